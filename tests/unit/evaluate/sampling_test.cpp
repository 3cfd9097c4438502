#include "kernevo/evaluate/sampling.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace kernevo {
namespace {

template <class T> bool ascending_and_distinct(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

TEST(SampleBlocks, TakesAllOfASmallGrid) {
  EXPECT_EQ(sample_blocks({2, 3, 1}, 10, 1), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(SampleBlocks, TakesEveryCornerAndTheAskedNumber) {
  const auto blocks = sample_blocks({100, 50, 2}, 20, 7);
  EXPECT_EQ(blocks.size(), 20U);
  EXPECT_TRUE(ascending_and_distinct(blocks));
  for (const std::uint64_t corner : {0, 99, 4900, 4999, 5000, 5099, 9900, 9999})
    EXPECT_TRUE(std::binary_search(blocks.begin(), blocks.end(), corner)) << corner;
}

TEST(SampleBlocks, DependsOnTheSeedAlone) {
  EXPECT_EQ(sample_blocks({1000, 1, 1}, 20, 3), sample_blocks({1000, 1, 1}, 20, 3));
  EXPECT_NE(sample_blocks({1000, 1, 1}, 20, 3), sample_blocks({1000, 1, 1}, 20, 4));
}

TEST(SamplePoints, KeepsEverythingUnderTheLimit) {
  EXPECT_EQ(sample_points(5, 5, 1), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(SamplePoints, AreEnoughToTell) {
  EXPECT_LT(std::pow(1 - 1e-3, static_cast<double>(kTellingPoints)), 0.01);
  EXPECT_LT(std::pow(1 - 1e-2, static_cast<double>(kTellingBlocks)), 0.01);
}

// One wrong element in a thousand, in one place: points that come in runs would miss it too often.
TEST(SamplePoints, FindALineOfWrongElements) {
  constexpr std::int64_t elements = 10'000'000;
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto points = sample_points(elements, 3 * kTellingPoints, seed);
    const auto first = std::lower_bound(points.begin(), points.end(), elements / 3);
    missed += first == points.end() || *first >= elements / 3 + elements / 1000 ? 1 : 0;
  }
  EXPECT_LE(missed, 6);
}

TEST(SamplePoints, KeepsBothEndsAndRespectsTheLimit) {
  for (const std::int64_t elements : {1001, 65536, 1000003}) {
    const auto points = sample_points(elements, 1000, 9);
    EXPECT_TRUE(ascending_and_distinct(points));
    EXPECT_EQ(points.front(), 0);
    EXPECT_EQ(points.back(), elements - 1);
    EXPECT_LE(points.size(), 1000U + 128U);
    EXPECT_GE(points.size(), 500U);
  }
}

} // namespace
} // namespace kernevo
