// The time of one shape on a device that measures: alone, or two kernels in turns.
#pragma once

#include "kernevo/evaluate/predict_case.h"
#include "kernevo/timing/compare_interleaved.h"

namespace kernevo {

Result<TimedCase> measure_case(Device& device, const KernelSubject& subject, const ShapeCase& shape,
                               const BenchOptions& options);

struct MeasuredPair {
  std::optional<CaseFault> incumbent_fault;
  std::optional<CaseFault> candidate_fault;
  Episode episode; // when neither has a fault
};
Result<MeasuredPair> measure_pair(Device& device, const KernelSubject& incumbent,
                                  const KernelSubject& candidate, const ShapeCase& shape,
                                  const BenchOptions& options);

} // namespace kernevo
