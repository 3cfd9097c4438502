// Expected values from the task's own reference kernel, for operations the catalogue does not know.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <cstdint>
#include <span>

namespace kernevo {

// Of one launch of the reference on a real shape.
struct ReferenceLimits {
  std::uint64_t instruction_budget = 0; // 0 = the device's default
  double seconds = 60;                  // of processor time
};

// Builds the reference and keeps a module of its own for it, apart from any candidate.
// `unseen` are shapes it will be asked about beside the task's own.
Result<ExpectationSource> make_reference_oracle(Device& device, const Task& task,
                                                std::span<const ShapeCase> unseen,
                                                const ReferenceLimits& limits);

} // namespace kernevo
