// How many bytes any kernel must move for a problem. A kernel that did not read an input's sector
// could not know of a change of it; so where such a change shows in an output, every right kernel
// reads that sector, however clever it is. What the reference happens to read proves nothing.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <cstdint>
#include <optional>

namespace kernevo {

struct NeededBytes {
  double bytes = 0;          // of outputs, and of inputs by the share of sectors that matter
  double least = 0;          // the same with 99 % confidence
  std::uint64_t tried = 0;   // sectors
  std::uint64_t changed = 0; // of them, those that changed an output
};

struct NeededBytesLimits {
  std::uint64_t runs = 0; // of the subject; too few for any sector: outputs alone are counted
  std::uint64_t instruction_budget = 0;
  double seconds = 60;
};

// Nothing when the subject, which is trusted, cannot be run or is no function of its inputs. The
// inputs are not made on demand.
Result<std::optional<NeededBytes>> find_needed_bytes(Subject& subject, const CaseInputs& inputs,
                                                     const NeededBytesLimits& limits);

// Without running anything: of the outputs that every kernel writes as a whole.
double bytes_to_write(const Problem& problem);

// A share of a population, of which `found` of `tried` random members had a property: so much at
// least, with 99 % confidence.
double least_share(std::uint64_t found, std::uint64_t tried);

} // namespace kernevo
