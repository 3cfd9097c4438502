#include "kernevo/evaluate/check_limits.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

// Warp instructions an operation, of plain kernels of the catalogue on small shapes.
constexpr double kPlain = 0.22;

TEST(CheckLimits, AHundredTimesAPlainKernelIsHonest) {
  for (const double work : {1.0, 1e3, 1e6, 1e9})
    EXPECT_GE(static_cast<double>(runaway_budget(work)), 100 * kPlain * work) << work;
  EXPECT_GE(runaway_budget(1), 100 * 20'000U) << "launches that wait for each other take thousands";
}

TEST(CheckLimits, AWholeBlockForEachOfManyShortRowsIsHonest) {
  constexpr std::uint64_t rows = 2048;
  constexpr std::uint64_t warps = 32; // of a block
  EXPECT_GE(runaway_budget(3 * rows), rows * warps * 400);
}

TEST(CheckLimits, SanitizersAskForTheWordOfAPlainRunEarly) {
  for (const double work : {1.0, 1e3, 1e6, 4e6}) {
    EXPECT_GE(static_cast<double>(sanitized_budget(work)), 2 * kPlain * work) << work;
    EXPECT_LE(sanitized_budget(work), runaway_budget(work) / 4) << work;
  }
  EXPECT_LE(sanitized_budget(1e12), 8'000'000U);
}

TEST(CheckLimits, WhatAKernelHasShownBoundsItsLargeShapes) {
  const double work = 2e9;
  const double shown = kPlain * work;
  EXPECT_GE(static_cast<double>(shown_budget(work, shown, 1)), 15 * shown);
  EXPECT_LE(shown_budget(work, shown, 1), runaway_budget(work));
  EXPECT_LE(shown_budget(work, shown, 0.01), shown_budget(work, shown, 1) / 10);
  EXPECT_GE(static_cast<double>(shown_budget(work, shown, 0.01)), 8 * 0.01 * shown);
  EXPECT_GE(shown_budget(work, 30e6, 1e-6), 40'000'000U) << "one block may do nearly everything";
  EXPECT_EQ(shown_budget(1, 1e9, 1), runaway_budget(1)) << "degenerate shapes show nothing";
}

TEST(CheckLimits, ProcessorTimeGoesWithTheBudget) {
  EXPECT_GT(processor_seconds(8'000'000, 60), 8'000'000 * 0.4e-6 * 3);
  EXPECT_LT(processor_seconds(1'000'000, 60), 10);
  EXPECT_EQ(processor_seconds(1'000'000'000'000, 60), 60);
  EXPECT_EQ(processor_seconds(1, 0.5), 0.5);
}

} // namespace
} // namespace kernevo
