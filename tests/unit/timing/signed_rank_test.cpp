#include "kernevo/timing/signed_rank.h"

#include "kernevo/base/random.h"
#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace kernevo {
namespace {

// P(T <= most) by going through all 2^n sign patterns.
double enumerated(std::size_t n, std::size_t most) {
  std::size_t hits = 0;
  for (std::uint32_t signs = 0; signs < (1U << n); ++signs) {
    std::size_t sum = 0;
    for (std::size_t rank = 1; rank <= n; ++rank)
      sum += (signs >> (rank - 1)) & 1U ? rank : 0;
    hits += sum <= most ? 1 : 0;
  }
  return static_cast<double>(hits) / std::exp2(static_cast<double>(n));
}

TEST(SignedRank, BoundIsTheLargestWithinTheError) {
  for (std::size_t n = 2; n <= 16; ++n)
    for (const double tail : {0.2, 0.025, 0.005, 0.0005}) {
      const std::size_t bound = signed_rank_bound(n, tail);
      if (bound > 0) {
        EXPECT_LE(enumerated(n, bound - 1), tail) << n;
      }
      EXPECT_GT(enumerated(n, bound), tail) << n;
    }
}

TEST(SignedRank, BoundsOfPublishedTables) {
  // Two-sided 5 % and 1 %: critical values 8 and 3 for n = 10, 52 and 37 for n = 20; the bound
  // counts from 1, so it is one more.
  EXPECT_EQ(signed_rank_bound(10, 0.025), 9U);
  EXPECT_EQ(signed_rank_bound(10, 0.005), 4U);
  EXPECT_EQ(signed_rank_bound(20, 0.025), 53U);
  EXPECT_EQ(signed_rank_bound(20, 0.005), 38U);
  EXPECT_EQ(signed_rank_bound(7, 0.005), 0U); // 2^-7 > 0.005
}

// Where the normal tail takes over it must be on the careful side, and not by much.
TEST(SignedRank, NormalBoundContinuesTheExactOne) {
  for (const double tail : {0.025, 0.005, 0.0005}) {
    const auto at = [&](std::size_t n) { return static_cast<double>(signed_rank_bound(n, tail)); };
    const double step = 0.5 * (at(60) - at(59) + at(62) - at(61));
    EXPECT_LE(at(61), at(60) + step + 1) << tail;
    EXPECT_GE(at(61), 0.97 * (at(60) + step)) << tail;
  }
}

TEST(SignedRank, IntervalIsThatOfAllPairMeans) {
  const CounterRandom random(4);
  for (std::size_t n = 8; n <= 120; n += 1 + n / 10) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < n; ++i)
      differences.push_back(n % 2 == 0 ? random.normal(100 * n + i)
                                       : std::round(random.normal(100 * n + i))); // with ties
    std::vector<double> means;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j)
        means.push_back(0.5 * (differences[i] + differences[j]));
    std::ranges::sort(means);
    const std::size_t bound = signed_rank_bound(n, 0.005);
    const auto interval = signed_rank_interval(differences, 0.005);
    ASSERT_EQ(interval.has_value(), bound > 0);
    if (!interval)
      continue;
    EXPECT_EQ(interval->low, means[bound - 1]);
    EXPECT_EQ(interval->high, means[means.size() - bound]);
    EXPECT_DOUBLE_EQ(interval->estimate, median_of(means));
  }
}

TEST(SignedRank, TooFewDifferencesGiveNothing) {
  EXPECT_FALSE(signed_rank_interval({}, 0.01));
  EXPECT_FALSE(signed_rank_interval(std::vector<double>{1, 2, 3}, 0.01));
}

// Coarse timers give ties and zeros; they must not make the test careless.
TEST(SignedRank, TiesAreHandledOnTheCarefulSide) {
  int above = 0;
  constexpr int kTrials = 20000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const CounterRandom random(static_cast<std::uint64_t>(trial));
    std::vector<double> differences;
    for (std::uint64_t i = 0; i < 20; ++i)
      differences.push_back(std::round(random.normal(i)));
    above += signed_rank_interval(differences, 0.025)->low > 0 ? 1 : 0;
  }
  EXPECT_LE(above, 0.025 * kTrials);
}

} // namespace
} // namespace kernevo
