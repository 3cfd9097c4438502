// Ctrl-C as a wish rather than an end, for commands that can stop cleanly.
#pragma once

#include <atomic>
#include <thread>

namespace kernevo::cli {

// While one exists, the first SIGINT or SIGTERM only sets requested(); the second ends the program
// at once. Make it before any other thread: they inherit that these signals are not for them.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool requested() const { return requested_; }

private:
  std::atomic<bool> requested_ = false;
  std::jthread watcher_;
};

} // namespace kernevo::cli
