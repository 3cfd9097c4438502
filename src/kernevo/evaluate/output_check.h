// Compares what a kernel wrote with what the oracle expects.
#pragma once

#include "kernevo/model/task.h"
#include "kernevo/model/verdict.h"
#include "kernevo/task/oracle.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kernevo {

struct OutputCheck {
  std::optional<Mismatch> mismatch; // the first element outside its tolerance
  double worst_ratio = 0;           // |error| / tolerance in force
  double worst_strict_ratio =
      0; // |error| / the oracle's own tolerance, when the task declares a wider one
  std::uint64_t checked = 0;
};

// `declared` is the task's tolerance: relative to max(|expected|, twice the rms of the expected
// values). It widens the oracle's bound for floating point and never applies to integers. A
// non-finite result passes only where the expected value is beyond the format's range, with the
// same sign.
OutputCheck check_output(const BufferSpec& buffer, std::span<const std::byte> actual,
                         std::span<const std::int64_t> points, std::span<const Expected> expected,
                         std::optional<double> declared);

// The first element of which some byte was not written.
std::optional<std::int64_t> first_unwritten(const BufferSpec& buffer,
                                            std::span<const std::byte> written);

// Row-major coordinates of a flat index.
std::vector<std::int64_t> coordinates(const std::vector<std::int64_t>& shape, std::int64_t flat);

} // namespace kernevo
