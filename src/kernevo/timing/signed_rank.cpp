#include "kernevo/timing/signed_rank.h"

#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace kernevo {
namespace {

// Beyond this the normal tail is used; the true tail is lighter, so the error stays below the one
// asked for.
constexpr std::size_t kExactUpTo = 60;

// Largest k with P(T <= k - 1) <= tail, T the sum of ranks 1..n that get a head from a fair coin.
std::size_t exact_bound(std::size_t n, double tail) {
  const std::size_t half = n * (n + 1) / 4 + 1; // the bound lies below the mean
  std::vector<double> chance(half + 1, 0.0);
  chance[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank)
    for (std::size_t sum = half + 1; sum-- > 0;)
      chance[sum] = 0.5 * (chance[sum] + (sum >= rank ? chance[sum - rank] : 0.0));
  double total = 0;
  std::size_t bound = 0;
  while (bound < half) {
    total += chance[bound];
    if (total > tail)
      break;
    ++bound;
  }
  return bound;
}

} // namespace

std::size_t signed_rank_bound(std::size_t n, double tail) {
  assert(tail > 0 && tail < 0.5);
  if (n <= kExactUpTo)
    return exact_bound(n, tail);
  const auto count = static_cast<double>(n);
  const double mean = count * (count + 1) / 4;
  const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  const double bound = std::floor(mean + 0.5 - normal_quantile(tail) * deviation);
  return bound < 1 ? 0 : static_cast<std::size_t>(bound);
}

std::optional<CentreInterval> signed_rank_interval(std::span<const double> differences,
                                                   double tail) {
  const std::size_t n = differences.size();
  const std::size_t bound = n == 0 ? 0 : signed_rank_bound(n, tail);
  if (bound == 0)
    return std::nullopt;
  std::vector<double> means;
  means.reserve(n * (n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      means.push_back(0.5 * (differences[i] + differences[j]));
  const auto at = [&](std::size_t rank) {
    return means.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  };
  const std::size_t total = means.size();
  // From the outside in, each selection leaves less for the next.
  std::nth_element(means.begin(), at(bound), means.end());
  std::nth_element(at(bound) + 1, at(total + 1 - bound), means.end());
  CentreInterval interval{0, *at(bound), *at(total + 1 - bound)};
  const std::size_t middle = (total + 1) / 2;
  std::nth_element(at(bound) + 1, at(middle), at(total + 1 - bound));
  interval.estimate = *at(middle);
  if (total % 2 == 0)
    interval.estimate =
        0.5 * (interval.estimate + *std::min_element(at(middle) + 1, at(total + 1 - bound) + 1));
  return interval;
}

} // namespace kernevo
