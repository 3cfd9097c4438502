// Expected values from the task's own reference kernel, for operations the catalogue does not know.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <cstdint>
#include <functional>
#include <span>

namespace kernevo {

// Of one launch of the reference on a real shape.
struct ReferenceLimits {
  std::uint64_t instruction_budget = 0; // 0 = the device's default
  double seconds = 60;                  // of processor time
  // Answers of one run, with tolerances by the magnitudes around an element: whoever does not do
  // the work is out of them, but so may be an honest kernel, whom finer answers have to clear.
  bool rough = false;
};

// Builds the reference and keeps a module of its own for it, apart from any candidate.
struct ReferenceOracle {
  ExpectationSource expectation;
  // Whether nominal inputs were answered without knowing the reference's own rounding errors,
  // though it computes in float32: no float64 version of it could be run, or it gave other answers.
  std::function<bool()> was_coarse;
};
// `unseen` are shapes it will be asked about beside the task's own.
Result<ReferenceOracle> make_reference_oracle(Device& device, const Task& task,
                                              std::span<const ShapeCase> unseen,
                                              const ReferenceLimits& limits);

} // namespace kernevo
