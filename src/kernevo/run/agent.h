// A run whose kernels somebody outside writes: what is wanted next, and what came of an answer.
#pragma once

#include "kernevo/run/open_run.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::run {

struct Question {
  Directive directive;
  propose::Parent parent;          // the kernel to start from
  std::string text;                // what to try and why
  std::vector<Diagnosis> attempts; // what was wrong with the answers so far
  std::uint64_t repairs_left = 0;
};

struct Asked {
  evolve::RunState state;
  double seconds = 0;               // since the run began; pauses count
  std::string guide;                // the task, the GPU and the rules
  std::optional<Question> question; // absent: the run is over
};

// A usage error for a run that asks nobody outside.
Result<Asked> ask(OpenRun& run, const Interrupted& interrupted);

struct Answer {
  std::string source;
  std::string title;        // empty: what the source says of itself
  std::optional<Step> step; // absent: the one that waits
};

struct Told {
  Step step = 0;
  double seconds = 0; // since the run began
  evolve::Told result;
};
Result<Told> tell(OpenRun& run, const Answer& answer, const Interrupted& interrupted);

} // namespace kernevo::run
