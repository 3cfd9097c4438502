// The time of one shape on a device that measures: alone, or two kernels in turns. Inputs are
// fresh, outputs of every shot are looked at, and what the device calls disturbed is timed again.
#pragma once

#include "kernevo/evaluate/predict_case.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/timing/compare_interleaved.h"

namespace kernevo {

Result<TimedCase> measure_case(Device& device, const KernelSubject& subject, const ShapeCase& shape,
                               const ExpectationSource& expectation, const BenchOptions& options);

struct MeasuredPair {
  std::optional<CaseFault> incumbent_fault;
  std::optional<CaseFault> candidate_fault;
  Episode episode; // when neither has a fault; ambiguous when it was disturbed
};
Result<MeasuredPair> measure_pair(Device& device, const KernelSubject& incumbent,
                                  const KernelSubject& candidate, const ShapeCase& shape,
                                  const ExpectationSource& expectation, const ComparePlan& plan,
                                  const BenchOptions& options);

// What the outputs of shots are compared with. A reference is made ready when it is first asked.
// Device and task must outlive it.
// `rough`: ReferenceLimits.
ExpectationSource expectation_for(Device& device, const Task& task, double seconds,
                                  double patience_minutes, bool rough = false);

} // namespace kernevo
