// Modelled times from a task and a kernel: what must hold whatever the model's constants are.
#include "kernevo/evaluate/bench.h"

#include "kernevo/device/open_device.h"
#include "kernevo/task/load_task.h"
#include "toolchain_test.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

constexpr const char* kAddTask =
    "op_name: add\nshapes: [[16777216]]\ndtype: float32\ntarget_gpu: A100\n";

std::string add_kernel(const std::string& body, const std::string& directives = "") {
  return directives +
         "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         body + "\n}\n";
}

class BenchKernel : public KernelTest {
protected:
  static Result<BenchResult> bench(const std::string& task_text, const std::string& source,
                                   const BenchOptions& options = {}, const std::string& gpu = "") {
    KERNEVO_TRY(task, parse_task(task_text, "task.yaml"));
    KERNEVO_TRY(kernel, parse_kernel_file(source, "kernel.cu"));
    KERNEVO_TRY(device, open_device(DeviceChoice{.gpu = gpu}, task.task.target_gpu));
    return bench_kernel(*device, task.task, kernel, options);
  }
};

TEST_F(BenchKernel, SaysModelledWithTermsIntervalAndReceipt) {
  const auto result = bench(kAddTask, add_kernel("if (i < N) C[i] = A[i] + B[i];"));
  ASSERT_TRUE(result) << format_error(result.error());
  ASSERT_FALSE(result->fault) << result->summary;
  ASSERT_EQ(result->cases.size(), 1U);
  const Timing& timing = result->cases[0].timing;
  EXPECT_EQ(timing.method, TimingMethod::modelled);
  EXPECT_TRUE(timing.samples.empty());
  EXPECT_FALSE(timing.terms.empty());
  EXPECT_LT(timing.interval.low, timing.median);
  EXPECT_GT(timing.interval.high, timing.median);
  EXPECT_EQ(timing.receipt.device, "virtual:A100");
  EXPECT_EQ(timing.receipt.shapes, "N=16777216");
  ASSERT_TRUE(result->objective);
  EXPECT_DOUBLE_EQ(result->objective->value, timing.median.value);
  // 201 MB cannot pass 1555 GB/s in less than 129 us; a simple stream needs not much more.
  EXPECT_GT(timing.median.value, 129e3);
  EXPECT_LT(timing.median.value, 1.3 * 129e3);
  EXPECT_TRUE(result->cases[0].launches[0].work); // machine code was looked at
}

TEST_F(BenchKernel, IsTheSameEveryTime) {
  const std::string source = add_kernel("if (i < N) C[i] = A[i] + B[i];");
  const auto first = bench(kAddTask, source);
  const auto second = bench(kAddTask, source);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->objective->value, second->objective->value);
}

TEST_F(BenchKernel, StridedAccessIsSlower) {
  const auto straight = bench(kAddTask, add_kernel("if (i < N) C[i] = A[i] + B[i];"));
  const auto strided =
      bench(kAddTask, add_kernel("unsigned n = N;\n"
                                 "  unsigned j = (i % (n / 32)) * 32u + i / (n / 32);\n"
                                 "  if (i < N) C[j] = A[j] + B[j];"));
  ASSERT_TRUE(straight && strided);
  ASSERT_TRUE(straight->objective && strided->objective);
  EXPECT_GT(strided->objective->value, 2 * straight->objective->value);
}

// Some of these blocks do two tiles, most do one; a sample of the latter alone would beat the
// memory.
TEST_F(BenchKernel, BlocksWithUnequalWorkDoNotBeatTheMemory) {
  const std::string source =
      "// @launch add<<<1728, 256>>>(A, B, C, N)\n"
      "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
      "  for (int tile = blockIdx.x; tile * 8192 < N; tile += gridDim.x)\n"
      "    for (int i = tile * 8192 + threadIdx.x; i < min(N, tile * 8192 + 8192); i += 256)\n"
      "      C[i] = A[i] + B[i];\n}\n";
  for (const std::uint64_t seed : {1, 2, 3}) {
    BenchOptions options;
    options.seed = seed;
    const auto result = bench(kAddTask, source, options);
    ASSERT_TRUE(result) << format_error(result.error());
    ASSERT_FALSE(result->fault) << result->summary;
    EXPECT_GT(result->objective->value, 129e3) << seed;
  }
}

TEST_F(BenchKernel, AddsUpTheLaunchesOfAPlan) {
  const std::string half = "// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)\n";
  const std::string source = add_kernel("if (i < N) C[i] = A[i] + B[i];", half);
  const std::string twice = half + source;
  const auto one = bench(kAddTask, source);
  const auto two = bench(kAddTask, twice);
  ASSERT_TRUE(one && two);
  ASSERT_TRUE(one->objective && two->objective) << two->summary;
  EXPECT_EQ(two->cases[0].launches.size(), 2U);
  EXPECT_NEAR(two->objective->value / one->objective->value, 2, 1e-6);
}

TEST_F(BenchKernel, FaultsHaveNoTime) {
  const auto broken = bench(kAddTask, add_kernel("C[i] = A[i] + B[i]"));
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->fault, FaultKind::syntax_error);
  EXPECT_FALSE(broken->objective);
  const auto wild = bench(kAddTask, add_kernel("C[i + 100000000] = A[i] + B[i];"));
  ASSERT_TRUE(wild) << format_error(wild.error());
  EXPECT_EQ(wild->fault, FaultKind::memory_safety_error);
  EXPECT_TRUE(wild->cases.empty());
}

TEST_F(BenchKernel, UnknownGpuAndCaseAreErrors) {
  const std::string source = add_kernel("if (i < N) C[i] = A[i] + B[i];");
  const auto unknown = bench(kAddTask, source, {}, "A1000");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("A1000"), std::string::npos);
  BenchOptions none;
  none.only_cases = {"no such shape"};
  EXPECT_FALSE(bench(kAddTask, source, none));
}

} // namespace
} // namespace kernevo
