// How long one call of a program takes on the named GPU, modelled: its kernels by the timing model,
// torch's operators by their roofline, in the order its streams and events give them.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/units.h"
#include "kernevo/model/timing.h"
#include "kernevo/programs/stage_jobs.h"

#include <filesystem>
#include <optional>
#include <string>

namespace kernevo {

struct ProgramPrice {
  Recording recording;
  ProgramReport report;
  Nanoseconds time;
  double error = 0;          // relative; of kernels by the model's, of operators none is known
  double authored_share = 0; // of the time of kernels and operators: in kernels of its own
  // Why there is no time; empty when there is.
  std::string unpriced;
};

// Of a call that is recorded: what was judged is then what is priced. `inputs` as for a replay.
Result<Answer<ProgramPrice>> price_recording(StageJobs& jobs, const ProgramTask& task,
                                             const Recording& recording,
                                             const std::filesystem::path& inputs,
                                             const std::filesystem::path& place);

// At sizes that nobody could fill: what it asks is recorded on tensors without values. A program
// that looks at values has no such price.
Result<Answer<ProgramPrice>> price_program(StageJobs& jobs, const ProgramTask& task,
                                           const ProgramClass& program, const ProgramCase& one,
                                           const std::filesystem::path& place);

// Its time as a record to compare: kernels by the model's error, operators of torch between their
// roofline and twice that.
Result<Timing> timing_of(const ProgramPrice& price, const ProgramTask& task,
                         const ProgramCase& one);

// The reference, which is a program like any other.
ProgramClass reference_of(const ProgramTask& task);

} // namespace kernevo
