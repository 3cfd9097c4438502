#include "kernevo/evaluate/compare.h"

#include "kernevo/evaluate/objective_time.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

TEST(Objective, MakesOneFigureOfTheTimesOfShapes) {
  const std::vector<WeightedTime> times = {{Nanoseconds{100}, 1}, {Nanoseconds{200}, 3}};
  EXPECT_NEAR(objective_time(Objective::geometric_mean_speedup, times).value,
              std::pow(100 * 8e6, 0.25), 1e-9);
  EXPECT_DOUBLE_EQ(objective_time(Objective::weighted_mean_time, times).value, 175);
  EXPECT_DOUBLE_EQ(objective_time(Objective::worst_case_time, times).value, 200);
}

BenchResult two_shapes(double first, double second, double error) {
  BenchResult bench;
  for (const double time : {first, second}) {
    CaseBench one;
    one.case_id = bench.cases.empty() ? "small" : "large";
    one.timing.method = TimingMethod::modelled;
    one.timing.median = Nanoseconds{time};
    one.timing.terms = {{"dram", Nanoseconds{time}}};
    one.timing.interval = {Nanoseconds{time / (1 + error)}, Nanoseconds{time * (1 + error)}, 0.68};
    one.timing.receipt.device = "virtual:A100";
    bench.cases.push_back(one);
  }
  return bench;
}

TEST(Objective, KeepsTheErrorOfShapesThatErrTogether) {
  const auto timing =
      objective_timing(Objective::geometric_mean_speedup, two_shapes(100, 400, 0.25));
  ASSERT_TRUE(timing) << format_error(timing.error());
  EXPECT_DOUBLE_EQ(timing->median.value, 200);
  EXPECT_DOUBLE_EQ(timing->interval.low.value, 160);
  EXPECT_DOUBLE_EQ(timing->interval.high.value, 250);
  EXPECT_DOUBLE_EQ(timing->interval.confidence, 0.68);
}

TEST(PairCounters, SetsBothSidesAndWhatOnlyOneHas) {
  Counters a;
  a.all = {{"x.sum", 100, "inst", "", false}, {"only_a.sum", 5, "inst", "", false}};
  Counters b;
  b.all = {{"only_b.sum", 7, "inst", "", false}, {"x.sum", 109, "inst", "", false}};
  const auto pairs = pair_counters(a, b);
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].candidate.value, 109);
  EXPECT_FALSE(pairs[0].differs()) << "9 % is less than a tenth";
  EXPECT_EQ(pairs[1].candidate.value, 0);
  EXPECT_TRUE(pairs[1].differs());
  EXPECT_EQ(pairs[2].incumbent.name, "only_b.sum");
  EXPECT_FALSE(pairs[2].ratio());
  EXPECT_TRUE(pairs[2].differs());
}

TEST(CaseCounters, AddTotalsOfLaunchesAndWeighRatios) {
  CaseBench bench;
  for (const std::uint64_t executions : {30U, 10U}) {
    LaunchBench launch;
    launch.counts.blocks = {{0, executions, 0}};
    InstructionCounts i;
    i.opcode = "add.f32";
    i.executions = executions;
    i.threads = executions * (executions == 30 ? 32 : 16);
    launch.counts.instructions = {i};
    bench.launches.push_back(launch);
  }
  const Counters counters = counters_of(bench);
  EXPECT_DOUBLE_EQ(counters.value_of("ptx__inst_executed.sum"), 40);
  EXPECT_DOUBLE_EQ(counters.value_of("ptx__thread_inst_executed_per_inst_executed.ratio"), 28);
}

} // namespace
} // namespace kernevo
