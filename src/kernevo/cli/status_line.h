// One line on a terminal that says what is being waited for, and for how long; nothing in a pipe.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/evaluate/check_progress.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace kernevo::cli {

class StatusLine {
public:
  explicit StatusLine(const CommonOptions& options);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // `seconds_left`: of what the text names, as far as it is known.
  void show(std::string text, std::optional<double> seconds_left);
  // Leaves the terminal as it was before the first text.
  void clear();

private:
  using Clock = std::chrono::steady_clock;

  void draw();
  void tick();

  bool shown_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_; // empty: nothing is waited for
  std::optional<double> seconds_left_;
  Clock::time_point begin_;
  bool ended_ = false;
  std::thread ticker_; // redraws while the work itself says nothing
};

// Shows a check; the line must outlive the observer.
CheckObserver show_check(StatusLine& line);

} // namespace kernevo::cli
