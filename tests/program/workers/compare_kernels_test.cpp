// Two kernels built, checked and timed against each other.
#include "kernevo/evaluate/compare.h"

#include "kernevo/device/open_device.h"
#include "kernevo/task/load_task.h"
#include "toolchain_test.h"

namespace kernevo {
namespace {

class Compare : public KernelTest {
protected:
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

// The same code with another number is another kernel.
TEST_F(Compare, WhatIsPassedIsPartOfAKernel) {
  const std::string body =
      "__global__ void add(const float* A, const float* B, float* C, int N, int turns) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  for (int t = 0; t < turns && i < N; ++t) C[i] = A[i] + B[i];\n}\n";
  const std::string launch = "// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N, ";
  const auto result = compare(launch + "200)\n" + body, launch + "1)\n" + body);
  ASSERT_TRUE(result) << format_error(result.error());
  ASSERT_FALSE(result->wrong) << result->wrong->summary;
  EXPECT_FALSE(result->identical);
  EXPECT_EQ(result->overall.standing, Standing::faster) << result->overall.reason;
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
