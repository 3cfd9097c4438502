// Two kernels on a device that measures: shots in turns, and what they say under noise.
#include "kernevo/evaluate/compare.h"

#include "scripted_kernels.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

CompareResult compare(FakeDevice& device, const std::string& a, const std::string& b,
                      const std::string& task_text = scripted_task("[[4096], [65536]]"),
                      const CompareOptions& options = {}) {
  const Task task = task_of(task_text);
  const KernelFile first = kernel_of(a, "a.cu");
  const KernelFile second = kernel_of(b, "b.cu");
  auto result = compare_kernels(device, task, {&first, {}}, {&second, {}}, options);
  EXPECT_TRUE(result) << format_error(result.error());
  return std::move(result).value();
}

const std::string kPlain = scripted_add("takes(100 * N);");
const std::string kFaster = scripted_add("takes(95 * N);");

TEST(CompareOnAFake, TakesShotsInTurns) {
  const auto device = noisy_device("gaussian_1");
  const CompareResult result = compare(*device, kPlain, kFaster);
  ASSERT_FALSE(result.wrong);
  const std::vector<Side> sides = device->sides_shot();
  ASSERT_GT(sides.size(), 8U);
  EXPECT_EQ(std::count(sides.begin(), sides.end(), Side::incumbent),
            std::count(sides.begin(), sides.end(), Side::candidate));
  // Blocks of four, each side twice: the same side at most four times in a row.
  std::size_t run = 1;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    run = sides[i] == sides[i - 1] ? run + 1 : 1;
    ASSERT_LE(run, 4U) << "at shot " << i;
  }
  ASSERT_EQ(result.cases.size(), 2U);
  for (const CaseBench& c : result.incumbent.cases)
    EXPECT_FALSE(c.timing.receipt.episode.empty());
}

TEST(CompareOnAFake, TellsFasterSlowerAndTheSameUnderNoise) {
  for (const char* noise : {"none", "gaussian_1", "lognormal_tail", "linear_drift", "bimodal_slow",
                            "throttled", "slow_start"}) {
    SCOPED_TRACE(noise);
    const CompareResult faster = compare(*noisy_device(noise), kPlain, kFaster);
    EXPECT_EQ(faster.overall.standing, Standing::faster) << faster.overall.reason;
    ASSERT_TRUE(faster.overall.ratio);
    EXPECT_NEAR(faster.overall.ratio->estimate, 100.0 / 95, 0.01);
    EXPECT_LE(faster.overall.ratio->low, 100.0 / 95 + 1e-9);
    EXPECT_GE(faster.overall.ratio->high, 100.0 / 95 - 1e-9);
    EXPECT_EQ(faster.overall.method, TimingMethod::measured);
    EXPECT_EQ(compare(*noisy_device(noise), kFaster, kPlain).overall.standing, Standing::slower);
    EXPECT_EQ(compare(*noisy_device(noise), kPlain, kPlain + "// again\n").overall.standing,
              Standing::same);
  }
}

TEST(CompareOnAFake, BothSidesHaveTheirTimesAndTheirObjective) {
  const CompareResult result = compare(*fake_device(), kPlain, kFaster);
  ASSERT_TRUE(result.incumbent.objective && result.candidate.objective);
  EXPECT_NEAR(result.incumbent.objective->value, 100 * std::sqrt(4096.0 * 65536.0), 1e-3);
  EXPECT_NEAR(result.candidate.objective->value, 95 * std::sqrt(4096.0 * 65536.0), 1e-3);
  EXPECT_EQ(result.incumbent.device.name, "fake:A100");
  ASSERT_EQ(result.candidate.cases.size(), 2U);
  EXPECT_EQ(result.candidate.cases[0].timing.receipt.device, "fake:A100");
  EXPECT_EQ(result.candidate.cases[0].timing.method, TimingMethod::measured);
}

TEST(CompareOnAFake, ADifferenceNobodyNeedsIsTheSame) {
  const CompareResult result =
      compare(*noisy_device("gaussian_1"), kPlain, scripted_add("takes(100 * N + N / 10);"));
  EXPECT_EQ(result.overall.standing, Standing::same) << result.overall.reason;
}

// By 2 %: what the objective makes of a quarter faster here and a sixth slower there.
TEST(CompareOnAFake, TheObjectiveDecidesWhereShapesDoNotAgree) {
  const CompareResult result = compare(*noisy_device("gaussian_1"), kPlain,
                                       scripted_add("takes(N > 5000 ? 80 * N : 120 * N);"));
  ASSERT_EQ(result.cases.size(), 2U);
  EXPECT_EQ(result.cases[0].comparison.standing, Standing::slower);
  EXPECT_EQ(result.cases[1].comparison.standing, Standing::faster);
  EXPECT_EQ(result.overall.standing, Standing::faster);
  EXPECT_NEAR(result.overall.ratio->estimate, 1 / std::sqrt(0.8 * 1.2), 0.005);
  EXPECT_THAT(result.overall.reason, HasSubstr("though slower on 4096"));
}

TEST(CompareOnAFake, AWrongSideIsNamedAndNothingIsTimed) {
  for (const Side side : {Side::incumbent, Side::candidate}) {
    const auto device = fake_device();
    const std::string wrong = scripted_add("takes(N); wrong(1);");
    const CompareResult result =
        side == Side::incumbent ? compare(*device, wrong, kPlain) : compare(*device, kPlain, wrong);
    ASSERT_TRUE(result.wrong);
    EXPECT_EQ(result.wrong->side, side);
    EXPECT_EQ(result.wrong->fault, FaultKind::correctness_mismatch);
    EXPECT_TRUE(result.wrong->verdict);
    EXPECT_TRUE(result.cases.empty());
    EXPECT_EQ(device->counts().shots, 0);
  }
}

// A check of small shapes lets it pass; the run before the shots does not.
TEST(CompareOnAFake, AFaultAtTheRealShapeIsTheKernelsOwn) {
  CompareOptions options;
  options.small_only = true;
  const CompareResult result =
      compare(*fake_device(), kPlain, scripted_add("takes(N); faults(N == 1000000);"),
              scripted_task("[[1000000]]"), options);
  ASSERT_TRUE(result.wrong);
  EXPECT_EQ(result.wrong->side, Side::candidate);
  EXPECT_EQ(result.wrong->fault, FaultKind::memory_safety_error);
  EXPECT_THAT(result.wrong->summary, HasSubstr("(case 1000000)"));
}

TEST(CompareOnAFake, AShapeNobodyHasIsAnError) {
  const Task task = task_of(scripted_task("[[4096]]"));
  const KernelFile kernel = kernel_of(kPlain);
  CompareOptions options;
  options.bench.only_cases = {"7"};
  const auto result = compare_kernels(*fake_device(), task, {&kernel, {}}, {&kernel, {}}, options);
  ASSERT_FALSE(result);
  EXPECT_THAT(format_error(result.error()), HasSubstr("none of the task's shapes"));
}

// A measured time has samples, and there are none of several shapes together.
TEST(CompareOnAFake, MeasuredTimesOfSeveralShapesAreNoTimingOfTheirOwn) {
  const Task task = task_of(scripted_task("[[4096], [65536]]"));
  const KernelFile kernel = kernel_of(kPlain);
  const auto timed = bench_kernel(*fake_device(), task, kernel, {});
  ASSERT_TRUE(timed);
  const auto all = objective_timing(task.objective, *timed);
  ASSERT_FALSE(all);
  EXPECT_THAT(format_error(all.error()), HasSubstr("shape by shape"));
}

} // namespace
} // namespace kernevo
