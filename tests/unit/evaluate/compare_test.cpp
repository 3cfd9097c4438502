#include "kernevo/evaluate/compare.h"

#include "kernevo/base/worker_process.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/task/load_task.h"
#include "kernevo/toolchain/toolchain.h"
#include "places.h"

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

class Compare : public testing::Test {
protected:
  static void SetUpTestSuite() { set_worker_program(program_path()); }
  void SetUp() override {
    if (const auto toolchain = find_toolchain(); !toolchain)
      GTEST_SKIP() << toolchain.error().message;
  }

  static Result<CompareResult> compare(const std::string& a, const std::string& b) {
    KERNEVO_TRY(task, parse_task("op_name: add\nshapes: [[4096], [20000]]\ndtype: float32\n"
                                 "target_gpu: A100\n",
                                 "task.yaml"));
    KERNEVO_TRY(kernel_a, parse_kernel_file(a, "a.cu"));
    KERNEVO_TRY(kernel_b, parse_kernel_file(b, "b.cu"));
    CompareOptions options;
    options.small_only = true;
    options.bench.blocks = 4;
    KERNEVO_TRY(device, open_device(DeviceChoice{}, task.task.target_gpu));
    return compare_kernels(*device, task.task, {&kernel_a, {}}, {&kernel_b, {}}, options);
  }
};

std::string add_kernel(const std::string& body) {
  return "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         body + "\n}\n";
}
const std::string kPlain = add_kernel("if (i < N) C[i] = A[i] + B[i];");
// The same sum after a long detour that the compiler cannot see through.
const std::string kDetour = add_kernel(
    "if (i < N) { float x = A[i];\n"
    "    for (int k = 0; k < 1000; ++k) { x = sqrtf(x * x); if (x > 1e30f) x = B[k % N]; }\n"
    "    C[i] = A[i] + B[i] + (x == -1.0f ? 1.0f : 0.0f); }");

TEST_F(Compare, AKernelIsTheSameAsItselfWhateverItsComments) {
  const auto result = compare(kPlain, "// a remark\n" + kPlain);
  ASSERT_TRUE(result) << format_error(result.error());
  ASSERT_FALSE(result->wrong);
  EXPECT_TRUE(result->identical);
  EXPECT_EQ(result->overall.standing, Standing::same);
  ASSERT_EQ(result->cases.size(), 2U);
  for (const CaseComparison& c : result->cases) {
    EXPECT_EQ(c.comparison.standing, Standing::same) << c.case_id;
    for (const CounterPair& pair : c.counters)
      EXPECT_FALSE(pair.differs()) << pair.incumbent.name;
  }
}

TEST_F(Compare, TellsALongDetourAndWhichWayItGoes) {
  const auto slower = compare(kPlain, kDetour);
  ASSERT_TRUE(slower) << format_error(slower.error());
  ASSERT_FALSE(slower->wrong) << slower->wrong->summary;
  EXPECT_FALSE(slower->identical);
  EXPECT_EQ(slower->overall.standing, Standing::slower) << slower->overall.reason;
  const auto faster = compare(kDetour, kPlain);
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->overall.standing, Standing::faster) << faster->overall.reason;
  ASSERT_TRUE(faster->overall.ratio && slower->overall.ratio);
  EXPECT_NEAR(faster->overall.ratio->estimate * slower->overall.ratio->estimate, 1, 1e-9);
  bool seen = false;
  for (const CounterPair& pair : faster->cases.front().counters)
    if (pair.incumbent.name == "ptx__inst_executed.sum") {
      seen = true;
      EXPECT_LT(*pair.ratio(), 0.05);
    }
  EXPECT_TRUE(seen);
}

TEST_F(Compare, NamesTheKernelThatIsWrongAndTimesNothing) {
  const std::string wrong = add_kernel("if (i < N) C[i] = A[i] - B[i];");
  const auto second = compare(kPlain, wrong);
  ASSERT_TRUE(second) << format_error(second.error());
  ASSERT_TRUE(second->wrong);
  EXPECT_EQ(second->wrong->side, Side::candidate);
  EXPECT_EQ(second->wrong->fault, FaultKind::correctness_mismatch);
  EXPECT_TRUE(second->cases.empty());
  const auto first = compare(wrong, kPlain);
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->wrong);
  EXPECT_EQ(first->wrong->side, Side::incumbent);
}

} // namespace
} // namespace kernevo
