#include "kernevo/evaluate/reference_tolerance.h"

#include "kernevo/base/random.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kernevo {
namespace {

constexpr double kUnit = 0x1p-24;

struct Row {
  std::vector<double> exact;
  std::vector<double> plain;
  std::vector<double> effects;
};

// Values near `scale`, rounded to float as a careful kernel would.
Row row_of(double scale, std::size_t count = 1000) {
  Row row;
  const CounterRandom random(7);
  for (std::size_t i = 0; i < count; ++i) {
    row.exact.push_back(scale * (1 + random.uniform(i)));
    row.plain.push_back(static_cast<float>(row.exact.back()));
    row.effects.push_back(row.exact.back());
  }
  return row;
}

std::vector<float> fine(const Row& row, double chain = 16) {
  const auto tolerances = fine_tolerances(row.exact, row.plain, row.effects, chain);
  EXPECT_TRUE(tolerances);
  return tolerances.value_or(std::vector<float>());
}

TEST(ReferenceTolerance, IsSomeTensOfRoundings) {
  const Row row = row_of(1000);
  for (std::size_t i = 0; const float tolerance : fine(row)) {
    EXPECT_GT(tolerance, 30 * kUnit * row.exact[i]);
    EXPECT_LT(tolerance, 70 * kUnit * row.exact[i]);
    ++i;
  }
}

TEST(ReferenceTolerance, GrowsWithTheLengthOfSums) {
  const Row row = row_of(1);
  EXPECT_GT(fine(row, 4096).front(), 5 * fine(row, 16).front());
}

TEST(ReferenceTolerance, GrowsWithTheReferencesOwnErrors) {
  Row rough = row_of(1);
  for (std::size_t i = 0; i < rough.plain.size(); ++i)
    rough.plain[i] = rough.exact[i] * (1 + (i % 2 == 0 ? 100 : -100) * kUnit);
  EXPECT_GT(fine(rough)[0], 1000 * kUnit * rough.exact[0]);
}

// Small elements between large ones, as of two results that are stored in turns.
TEST(ReferenceTolerance, OfSmallElementsIsSmallBesideLargeOnes) {
  Row row = row_of(1);
  for (std::size_t i = 0; i < row.exact.size(); i += 2)
    for (auto* values : {&row.exact, &row.plain, &row.effects})
      (*values)[i] *= 10000;
  const std::vector<float> tolerances = fine(row);
  EXPECT_LT(tolerances[1], 100 * kUnit * row.exact[1]);
}

TEST(ReferenceTolerance, OfWhatCancelsIsThatOfItsTerms) {
  Row row = row_of(1);
  for (std::size_t i = 0; i < row.exact.size(); ++i) {
    row.exact[i] = 1e-5 * row.effects[i];
    row.plain[i] = row.exact[i] + kUnit * row.effects[i];
  }
  EXPECT_GT(fine(row)[0], 10 * kUnit);
}

// An element whose changes cancelled by chance is like its neighbours.
TEST(ReferenceTolerance, OfAnUnluckyElementIsThatOfItsNeighbours) {
  Row row = row_of(1);
  row.exact[3] = row.plain[3] = row.effects[3] = 0;
  EXPECT_GT(fine(row)[3], 10 * kUnit);
}

TEST(ReferenceTolerance, ThereIsNoneForAnotherComputation) {
  Row row = row_of(1);
  row.plain[500] *= 1.001;
  EXPECT_FALSE(fine_tolerances(row.exact, row.plain, row.effects, 16));
  Row overflown = row_of(1);
  overflown.plain[5] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(fine_tolerances(overflown.exact, overflown.plain, overflown.effects, 16));
  overflown.exact[5] = overflown.plain[5];
  EXPECT_TRUE(fine_tolerances(overflown.exact, overflown.plain, overflown.effects, 16));
}

// What is lost when a half is stored is allowed once, and no error of the computation.
TEST(ReferenceTolerance, OfHalvesIsTheRoundingOfTheResult) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    Row row = row_of(1);
    const double rounding = unit_roundoff(dtype);
    for (std::size_t i = 0; i < row.exact.size(); ++i)
      row.plain[i] = row.exact[i] * (1 + (i % 2 == 0 ? 0.9 : -0.9) * rounding);
    const auto tolerances = fine_tolerances(row.exact, row.plain, row.effects, 16, dtype);
    ASSERT_TRUE(tolerances);
    for (std::size_t i = 0; i < row.exact.size(); ++i) {
      EXPECT_GT((*tolerances)[i], 2 * rounding * row.exact[i]);
      EXPECT_LT((*tolerances)[i], 2.2 * rounding * row.exact[i]);
    }
  }
}

TEST(ReferenceTolerance, OfHalvesGrowsWithTheReferencesOwnErrors) {
  Row row = row_of(1);
  const double rounding = unit_roundoff(DType::float16);
  for (std::size_t i = 0; i < row.exact.size(); ++i)
    row.plain[i] = row.exact[i] * (1 + (i % 2 == 0 ? 2 : -2) * rounding);
  const auto tolerances = fine_tolerances(row.exact, row.plain, row.effects, 16, DType::float16);
  ASSERT_TRUE(tolerances);
  EXPECT_GT((*tolerances)[0], 10 * rounding * row.exact[0]);
}

TEST(ReferenceTolerance, WithoutExactValuesItIsAShareOfWhatGoesIn) {
  const Row row = row_of(1000);
  const auto tolerances = coarse_tolerances(row.exact, row.effects, coarse_share(DType::float32));
  EXPECT_NEAR(tolerances[0], 1e-4 * row.exact[0], 1e-6 * row.exact[0]);
}

} // namespace
} // namespace kernevo
