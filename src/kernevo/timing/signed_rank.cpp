#include "kernevo/timing/signed_rank.h"

#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
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

// The means of all pairs of differences, each with itself too, by rank, without making them all:
// in sorted order a mean grows with either index, so counting those below a value is one walk.
class PairMeans {
public:
  explicit PairMeans(std::vector<double> differences) : sorted_(std::move(differences)) {
    std::ranges::sort(sorted_);
  }

  // The rank-th smallest, from 1.
  double select(std::size_t rank) const {
    const std::size_t n = sorted_.size();
    double low = -std::numeric_limits<double>::infinity(); // count(low) < rank
    double high = sorted_.back();                          // count(high) >= rank
    std::size_t below = 0;
    std::size_t within = n * (n + 1) / 2;
    // Ties can keep the range full; then it is simply sorted through.
    for (int step = 0; step < kSteps && within - below > kFew * n; ++step) {
      const double middle = 0.5 * (std::max(low, sorted_.front()) + high);
      if (middle <= low || middle >= high)
        break;
      const std::size_t count = walk(middle, [](std::size_t, std::size_t) {});
      (count >= rank ? high : low) = middle;
      (count >= rank ? within : below) = count;
    }
    std::vector<double> left;
    left.reserve(within - below);
    walk(high, [&](std::size_t i, std::size_t end) {
      for (std::size_t j = end; j-- > i && mean(i, j) > low;)
        left.push_back(mean(i, j));
    });
    const auto at = left.begin() + static_cast<std::ptrdiff_t>(rank - below - 1);
    std::nth_element(left.begin(), at, left.end());
    return *at;
  }

private:
  static constexpr int kSteps = 64;
  static constexpr std::size_t kFew = 4; // as many means as this times n are cheap to sort

  double mean(std::size_t i, std::size_t j) const { return 0.5 * (sorted_[i] + sorted_[j]); }

  // How many means are at most `value`; gives visit(i, end) for each i with such pairs (i, j),
  // i <= j < end.
  template <class F> std::size_t walk(double value, F visit) const {
    std::size_t count = 0;
    std::size_t end = sorted_.size();
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      while (end > i && mean(i, end - 1) > value)
        --end;
      if (end <= i)
        break;
      count += end - i;
      visit(i, end);
    }
    return count;
  }

  std::vector<double> sorted_;
};

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
  const PairMeans means({differences.begin(), differences.end()});
  const std::size_t total = n * (n + 1) / 2;
  const double middle = means.select((total + 1) / 2);
  return CentreInterval{total % 2 == 1 ? middle : 0.5 * (middle + means.select(total / 2 + 1)),
                        means.select(bound), means.select(total + 1 - bound)};
}

} // namespace kernevo
