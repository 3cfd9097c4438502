#include "kernevo/timing/paired_test.h"

#include "kernevo/base/random.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

// Differences of normal noise around a centre until the test is decided.
PairedTest run(const PairedPlan& plan, double centre, double deviation, std::uint64_t seed) {
  PairedTest test(plan);
  const CounterRandom random(seed);
  for (std::uint64_t i = 0; !test.standing(); ++i)
    test.add(centre + deviation * random.normal(i));
  return test;
}

TEST(PairedTest, LooksGrowGeometricallyToTheLimit) {
  EXPECT_EQ(looks_of({}),
            (std::vector<int>{12, 18, 27, 40, 60, 91, 136, 205, 307, 461, 691, 1024}));
  EXPECT_EQ(looks_of({.min_blocks = 10, .max_blocks = 10}), (std::vector<int>{10}));
}

TEST(PairedTest, RefusesPlansThatCannotWork) {
  EXPECT_TRUE(make_paired_plan({}));
  EXPECT_FALSE(make_paired_plan({.min_blocks = 1}));
  EXPECT_FALSE(make_paired_plan({.min_blocks = 20, .max_blocks = 10}));
  EXPECT_FALSE(make_paired_plan({.max_blocks = 1'000'000}));
  EXPECT_FALSE(make_paired_plan({.growth = 1}));
  EXPECT_FALSE(make_paired_plan({.confidence = 1}));
  EXPECT_FALSE(make_paired_plan({.margin = -0.1}));
  const auto hopeless = make_paired_plan({.min_blocks = 5, .max_blocks = 5});
  ASSERT_FALSE(hopeless);
  EXPECT_EQ(hopeless.error().message, "comparison plan: 5 blocks can never show anything with "
                                      "confidence 0.99; allow more blocks or less confidence");
}

TEST(PairedTest, FindsDifferencesAndTheirAbsence) {
  EXPECT_EQ(run({}, 0.05, 0.01, 1).standing(), Standing::faster);
  EXPECT_EQ(run({}, -0.05, 0.01, 1).standing(), Standing::slower);
  EXPECT_EQ(run({}, 0.0, 0.01, 1).standing(), Standing::same);
  EXPECT_EQ(run({}, 0.0, 0.5, 1).standing(), Standing::ambiguous);
  // Identical times, as a deterministic device gives them.
  EXPECT_EQ(run({}, 0.0, 0.0, 1).standing(), Standing::same);
  EXPECT_EQ(run({}, 0.02, 0.0, 1).standing(), Standing::faster);
}

TEST(PairedTest, ARealDifferenceBelowTheMarginIsTheSame) {
  const PairedTest test = run({}, 0.002, 0.0005, 2);
  EXPECT_EQ(test.standing(), Standing::same);
  EXPECT_GT(test.interval()->low, 0);
}

TEST(PairedTest, NothingIsSaidBeforeTheFirstLook) {
  PairedTest test({});
  for (int i = 0; i < 11; ++i)
    test.add(0.1);
  EXPECT_FALSE(test.standing());
  test.add(0.1);
  EXPECT_EQ(test.standing(), Standing::faster);
}

TEST(PairedTest, AnEarlyEndSpendsTheErrorThatIsLeft) {
  // Nine of nine positive: 2^-9 is more than one look's share of the error but less than all of it.
  PairedTest test({});
  for (int i = 0; i < 9; ++i)
    test.add(0.1 + 0.001 * i);
  EXPECT_FALSE(test.standing());
  test.finish();
  EXPECT_EQ(test.standing(), Standing::faster);
  PairedTest shorter({});
  for (int i = 0; i < 7; ++i)
    shorter.add(0.1 + 0.001 * i);
  shorter.finish();
  EXPECT_EQ(shorter.standing(), Standing::ambiguous);
  EXPECT_FALSE(shorter.interval());
  const Comparison comparison = conclude(shorter, {}, "the limit of 1 s");
  EXPECT_EQ(comparison.reason,
            "7 paired blocks before the limit of 1 s are too few to say anything");
  EXPECT_TRUE(make_comparison(comparison));
}

TEST(PairedTest, ReasonsSayWhatWasSeen) {
  PairedTest test({});
  for (int i = 0; i < 12; ++i)
    test.add(std::log(1.05));
  const Comparison comparison = conclude(test, {}, "the limit of 256 blocks");
  EXPECT_EQ(comparison.reason,
            "+5.00 % speed, 99 % interval [+5.00, +5.00] after 12 paired blocks");
  EXPECT_NEAR(comparison.ratio->estimate, 1.05, 1e-12);
  EXPECT_TRUE(make_comparison(comparison));
}

// Looking forty times at an interval made for one look finds a "difference" far too often; the
// shares keep the promise of the whole.
TEST(PairedTest, LookingOftenDoesNotInflateTheError) {
  const PairedPlan plan{.max_blocks = 256, .growth = 1.05, .margin = 0};
  ASSERT_GT(looks_of(plan).size(), 40U);
  int wrong = 0;
  int careless = 0;
  constexpr int kTrials = 500;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    wrong += run(plan, 0, 0.02, trial).standing() != Standing::ambiguous ? 1 : 0;
    const CounterRandom random(trial);
    std::vector<double> differences;
    for (const int look : looks_of(plan)) {
      while (static_cast<int>(differences.size()) < look)
        differences.push_back(0.02 * random.normal(differences.size()));
      const auto interval = signed_rank_interval(differences, 0.005);
      if (interval && (interval->low > 0 || interval->high < 0)) {
        ++careless;
        break;
      }
    }
  }
  EXPECT_LE(wrong, 0.01 * kTrials);
  EXPECT_GE(careless, 0.03 * kTrials) << "the correction would not be needed";
}

} // namespace
} // namespace kernevo
