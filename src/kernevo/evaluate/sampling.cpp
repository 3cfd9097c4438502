#include "kernevo/evaluate/sampling.h"

#include "kernevo/base/random.h"
#include "kernevo/predict/choose_blocks.h"

#include <algorithm>
#include <set>

namespace kernevo {
namespace {

// Neighbouring points share most of the oracle's work (a row of a softmax, a line of a matrix).
constexpr std::int64_t kRun = 64;

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
  const std::int64_t runs = std::max<std::int64_t>(2, limit / kRun);
  std::set<std::int64_t> starts = {0, std::max<std::int64_t>(0, count - kRun)};
  const CounterRandom random(seed);
  for (std::uint64_t i = 0; static_cast<std::int64_t>(starts.size()) < std::min(runs, count / kRun);
       ++i)
    starts.insert(static_cast<std::int64_t>(random.bits(i) % static_cast<std::uint64_t>(count)) /
                  kRun * kRun);
  std::vector<std::int64_t> kept;
  std::int64_t next = 0;
  for (const std::int64_t start : starts)
    for (std::int64_t i = std::max(next, start); i < std::min(count, start + kRun); ++i) {
      kept.push_back(points[static_cast<std::size_t>(i)]);
      next = i + 1;
    }
  return kept;
}

std::vector<std::int64_t> sample_points(std::int64_t elements, std::int64_t limit,
                                        std::uint64_t seed) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < elements; ++i)
    all[static_cast<std::size_t>(i)] = i;
  return thin_points(std::move(all), limit, seed);
}

} // namespace kernevo
