// The time of one shape on a device that is modelled: blocks are counted, the model says how long
// their like takes.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/count_case.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/sass/sass.h"

#include <optional>
#include <string>

namespace kernevo {

struct TimedCase {
  CaseBench bench;
  std::optional<CaseFault> fault; // without one the bench holds
};

// The machine instructions of a prepared kernel; absent without the tools, then its PTX has to do.
Result<std::optional<sass::SassModule>> machine_code_of(const PreparedKernel& prepared);

Result<TimedCase> predict_case(const DeviceIdentity& device, KernelSubject& subject,
                               const std::optional<sass::SassModule>& machine_code,
                               const ShapeCase& shape, const BenchOptions& options,
                               const TimedReference& reference);

// What is the same for every way of timing a shape.
Receipt receipt_of(const DeviceIdentity& device, const Build& build, const ShapeCase& shape,
                   std::uint64_t seed);

} // namespace kernevo
