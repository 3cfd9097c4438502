// What `kernevo tune` shows: progress while it runs, and what came of it.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/device/open_device.h"
#include "kernevo/tune/tuner.h"
#include "kernevo/tune/tuning_subject.h"

#include <chrono>
#include <string>

namespace kernevo::cli {

// The names of one tuning, for people.
struct TuneNames {
  std::string task;
  std::string kernel;
  DeviceChoice device; // as the user gave it
  std::string log;     // empty: none is kept
  std::string written; // by --write
};

// On a terminal one line that is rewritten; in a pipe a line for each new best.
class TuneProgress {
public:
  TuneProgress(const CommonOptions& options, const tune::TuningSubject& subject,
               const tune::TunerOptions& tuner);
  void header(const TuneNames& names, std::size_t logged) const;
  void show(tune::TuningEvent event, const tune::TuningState& state);
  void finish(); // leaves the terminal's line empty

private:
  std::string line(const tune::TuningState& state) const;

  bool shown_;
  bool terminal_;
  const tune::TuningSubject& subject_;
  const tune::TunerOptions& tuner_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::size_t width_ = 0; // of what stands on the terminal's line
};

struct TuneSummary {
  TuneNames names;
  const tune::TuningSubject& subject;
  const tune::TunerOptions& tuner;
  const tune::TuningResult& result;
  std::size_t same_code = 0;
  double seconds = 0;
};

void print_tune_summary(const TuneSummary& summary, bool quiet);
void print_tune_json(const TuneSummary& summary);

} // namespace kernevo::cli
