// A candidate of a run with everything known about it, read from the run's journal.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/evaluate/audience.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/run_event.h"
#include "kernevo/model/task.h"
#include "kernevo/model/timing.h"
#include "kernevo/store/journal.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::extract {

// A step of the way from the reference to the candidate.
struct Ancestor {
  Candidate candidate;
  std::optional<Nanoseconds> objective; // absent when it was never timed
};

struct Extraction {
  RunStarted started;
  Task task;
  std::string task_text;
  bool best = false;     // it was the best of the run when it was read
  Directive directive;   // what the step was asked for
  Candidate candidate;   // what was proposed: by this step, or by the one it tuned
  Evaluation evaluation; // of the step, with the parameters it found
  Evaluation baseline;   // of the reference
  std::string reference; // source of the reference
  KernelFile file;       // as it was proposed; its parameters are not bound
  // Of the shots that made it the best, on a device that measures; absent where it was not.
  std::optional<Receipt> conditions;
  std::vector<Ancestor> lineage; // the candidate first, along first parents to the reference

  Step step() const { return evaluation.step; }
  double speedup() const { return baseline.objective->value / evaluation.objective->value; }
};

// The best of the run (confirmed on shapes its proposer was not shown), or what a step came to.
// Reads the latest snapshot and single steps, never the whole journal. A usage error for a step
// that does not exist or came to nothing. Nothing in it is kept from the audience.
Result<Extraction> read_extraction(store::Journal& journal, const std::optional<Step>& step,
                                   Audience audience = Audience::owner);

} // namespace kernevo::extract
