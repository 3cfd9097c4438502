// The rungs of the ladder that any subject climbs: small shapes with every sanitizer on, hidden
// shapes, real shapes (judge_real_shapes.h).
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/evaluate/check_progress.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/evaluate/subject.h"
#include "kernevo/model/task.h"
#include "kernevo/model/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct JudgeOptions {
  std::string file; // whom to blame when the subject does not fit a problem
  std::uint64_t seed = 1;
  std::vector<ShapeCase> drawn; // for this check alone (drawn_shapes.h)
  double seconds = 60;          // most processor time of a launch
  std::uint64_t memory_bytes = std::uint64_t{8} << 30U;
  double patience_minutes = 5; // for the whole runs of one real shape, on an ordinary machine
  bool small_only = false;
  std::optional<RunOrder> order;   // of every case; see CheckOptions
  CheckObserver observer = {};     // may be empty
  WholeTallies* tallies = nullptr; // receives what blocks of real shapes did that were run whole
  const Device* shared = nullptr;  // a device that is used in turns; null where it need not be
};

// What the rungs are climbed with. Where a device has no instruments, small and hidden shapes run
// on one that has.
struct JudgedSubjects {
  Subject* small = nullptr;
  Subject* real = nullptr; // null when small shapes are all that is wanted
};

// Fills the verdict; the first fault ends the climb.
Result<void> judge_subject(const JudgedSubjects& subjects, const Task& task,
                           const ExpectationSource& expectation, const JudgeOptions& options,
                           Verdict& verdict);
Result<void> judge_subject(Subject& subject, const Task& task, const ExpectationSource& expectation,
                           const JudgeOptions& options, Verdict& verdict);

} // namespace kernevo
