// The ladder for Python programs. What one call of the program asks of the GPU is written down on
// inputs that count for nothing, and done again by us on those that do, so that nothing but the
// work it asks of the GPU can make a result, and nothing of it goes unpriced.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/verdict.h"
#include "kernevo/programs/price_program.h"
#include "kernevo/programs/program_source.h"
#include "kernevo/programs/stage_jobs.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct ProgramCheckOptions {
  ProgramTask task;
  ProgramClass program;
  double patience_minutes = 5;  // for the run of the task's own sizes
  bool small_only = false;      // stop after the small sizes
  bool price = false;           // a time is wanted, of what was judged at the task's own sizes
  bool require_kernels = false; // a program that launches none of its own is refused
  std::function<void(const std::string& what)> observe = {}; // may be empty
};

struct ProgramCheck {
  Verdict verdict;
  ProgramLanguage language = ProgramLanguage::torch;
  TaskDescription task;
  std::vector<std::string> notes; // of the recordings, each once
  // Of the last case: launches of kernels and operators of torch in one call.
  std::uint64_t launches = 0;
  std::uint64_t operators = 0;
  // At the task's own sizes; absent where none was wanted, or the verdict is not correct.
  std::optional<ProgramPrice> price;
  double wall_seconds = 0;
};

// Result errors are the task's or the machine's; what the program does wrong is in the verdict.
Result<ProgramCheck> check_program(StageJobs& jobs, const ProgramCheckOptions& options);

} // namespace kernevo
