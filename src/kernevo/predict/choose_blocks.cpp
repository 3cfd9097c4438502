#include "kernevo/predict/choose_blocks.h"

#include "kernevo/base/random.h"

#include <algorithm>
#include <numeric>

namespace kernevo {
namespace {

// Of the blocks, those that come with their neighbours: this many at least.
constexpr std::uint64_t kFewestCentres = 2;
constexpr std::uint64_t kBlocksPerCentre = 8;

} // namespace

std::vector<std::uint64_t> choose_blocks(const std::array<std::uint32_t, 3>& grid,
                                         std::uint64_t count, std::uint64_t seed) {
  const std::array<std::uint64_t, 3> extents = {grid[0], grid[1], grid[2]};
  const std::uint64_t total = extents[0] * extents[1] * extents[2];
  std::set<std::uint64_t> chosen;
  const std::uint64_t centres = std::max(kFewestCentres, count / kBlocksPerCentre);
  for (std::uint64_t i = 1; i <= centres; ++i) {
    // Along the grid's diagonal, so that every axis is seen at several places.
    std::array<std::uint64_t, 3> at{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      at.at(axis) = extents.at(axis) * i / (centres + 1);
    auto number = [&](std::array<std::uint64_t, 3> p) {
      return p[0] + extents[0] * (p[1] + extents[1] * p[2]);
    };
    chosen.insert(number(at));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto next = at;
      if (++next.at(axis) < extents.at(axis))
        chosen.insert(number(next));
    }
  }
  chosen.insert(total - 1);
  return fill_choice(std::move(chosen), total, count, seed);
}

std::vector<std::uint64_t> fill_choice(std::set<std::uint64_t> chosen, std::uint64_t total,
                                       std::uint64_t count, std::uint64_t seed) {
  if (total <= count) {
    std::vector<std::uint64_t> all(total);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }
  const CounterRandom random(seed);
  for (std::uint64_t i = 0; chosen.size() < count; ++i)
    chosen.insert(random.bits(i) % total);
  return {chosen.begin(), chosen.end()};
}

} // namespace kernevo
