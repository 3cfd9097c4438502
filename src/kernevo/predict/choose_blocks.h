// Which blocks of a grid stand for all of them in a profile.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace kernevo {

// All blocks when there are no more than `count`. Else about that many, ascending: blocks spread
// evenly over the grid with their neighbours in x, y and z (which show what blocks share), the last
// one (edges differ), and others by seed.
std::vector<std::uint64_t> choose_blocks(const std::array<std::uint32_t, 3>& grid,
                                         std::uint64_t count, std::uint64_t seed);

// The chosen ones of `total` blocks and others by seed, `count` in all, ascending; every block when
// there are no more than that.
std::vector<std::uint64_t> fill_choice(std::set<std::uint64_t> chosen, std::uint64_t total,
                                       std::uint64_t count, std::uint64_t seed);

} // namespace kernevo
