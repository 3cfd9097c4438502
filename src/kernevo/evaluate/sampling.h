// Which blocks to run and which elements to verify when a shape is too large for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kernevo {

// Distinct linear block indices, ascending: the corners of the grid, then random ones.
std::vector<std::uint64_t> sample_blocks(const std::array<std::int64_t, 3>& grid,
                                         std::uint64_t count, std::uint64_t seed);

// So many points, each drawn by itself, miss one wrong element in a thousand with less than 1 %
// probability; so many blocks, drawn the same way, miss one wrong block in a hundred.
inline constexpr std::int64_t kTellingPoints = 4603;
inline constexpr std::uint64_t kTellingBlocks = 459;

// Ascending flat indices: all of them, or, when there are more than `limit`, the telling points
// with the first and the last, and short random runs for the rest.
std::vector<std::int64_t> sample_points(std::int64_t elements, std::int64_t limit,
                                        std::uint64_t seed);

// The given ascending points, thinned to `limit` in the same manner.
std::vector<std::int64_t> thin_points(std::vector<std::int64_t> points, std::int64_t limit,
                                      std::uint64_t seed);

} // namespace kernevo
