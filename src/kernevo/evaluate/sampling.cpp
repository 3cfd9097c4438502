#include "kernevo/evaluate/sampling.h"

#include "kernevo/base/random.h"
#include "kernevo/predict/choose_blocks.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace kernevo {
namespace {

// Neighbouring points share most of the oracle's work (a row of a softmax, a line of a matrix).
constexpr std::int64_t kRun = 64;

// Positions out of `count`, ascending.
std::vector<std::int64_t> choose_positions(std::int64_t count, std::int64_t limit,
                                           std::uint64_t seed) {
  const CounterRandom random(seed);
  const auto draw = [&](std::uint64_t i) {
    return static_cast<std::int64_t>(random.bits(i) % static_cast<std::uint64_t>(count));
  };
  std::vector<std::int64_t> chosen = {0, count - 1};
  const std::int64_t singles = std::min(limit, kTellingPoints);
  std::uint64_t drawn = 0;
  for (std::int64_t i = 0; i < singles; ++i)
    chosen.push_back(draw(drawn++));
  for (std::int64_t left = limit - singles; left >= kRun; left -= kRun)
    for (std::int64_t first = draw(drawn++) / kRun * kRun, i = first;
         i < std::min(count, first + kRun); ++i)
      chosen.push_back(i);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

} // namespace

std::vector<std::uint64_t> sample_blocks(const std::array<std::int64_t, 3>& grid,
                                         std::uint64_t count, std::uint64_t seed) {
  const auto [gx, gy, gz] = std::array<std::uint64_t, 3>{static_cast<std::uint64_t>(grid[0]),
                                                         static_cast<std::uint64_t>(grid[1]),
                                                         static_cast<std::uint64_t>(grid[2])};
  std::set<std::uint64_t> chosen; // the corners
  for (const std::uint64_t z : {std::uint64_t{0}, gz - 1})
    for (const std::uint64_t y : {std::uint64_t{0}, gy - 1})
      for (const std::uint64_t x : {std::uint64_t{0}, gx - 1})
        chosen.insert(x + gx * (y + gy * z));
  return fill_choice(std::move(chosen), gx * gy * gz, count, seed);
}

std::vector<std::int64_t> thin_points(std::vector<std::int64_t> points, std::int64_t limit,
                                      std::uint64_t seed) {
  const auto count = static_cast<std::int64_t>(points.size());
  if (count <= limit)
    return points;
  std::vector<std::int64_t> kept;
  for (const std::int64_t position : choose_positions(count, limit, seed))
    kept.push_back(points[static_cast<std::size_t>(position)]);
  return kept;
}

std::vector<std::int64_t> sample_points(std::int64_t elements, std::int64_t limit,
                                        std::uint64_t seed) {
  if (elements > limit)
    return choose_positions(elements, limit, seed);
  std::vector<std::int64_t> all(static_cast<std::size_t>(elements));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

} // namespace kernevo
