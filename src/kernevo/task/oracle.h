// The right answer, in float64, point by point, with the largest error an honest kernel may make.
#pragma once

#include "kernevo/base/lazy_pages.h"
#include "kernevo/base/result.h"
#include "kernevo/model/task.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kernevo {

struct Expected {
  double value = 0;
  double tolerance = 0; // from dtype, reduction length and condition; see docs/checking.md
};

// What the oracle may read: one per buffer of the problem, empty for pure outputs. inout buffers
// hold their initial content.
struct OracleInput {
  OracleInput() = default;
  OracleInput(std::span<const std::byte> content) : bytes(content) {}   // NOLINT: as a span
  OracleInput(LazyPages& made) : bytes(made.storage()), pages(&made) {} // NOLINT: the same
  std::span<const std::byte> bytes;
  LazyPages* pages = nullptr; // made as the oracle reads them
};
using OracleInputs = std::vector<OracleInput>;

// Catalogue operations only. `points` are flat element indices of the given output buffer,
// ascending; consecutive points are cheapest together.
Result<std::vector<Expected>> expected_values(const Problem& problem, const OracleInputs& inputs,
                                              std::size_t output,
                                              std::span<const std::int64_t> points);

} // namespace kernevo
