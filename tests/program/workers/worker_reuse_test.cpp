// How many processes judging a kernel takes: builds that are known start no compiler, and a kernel
// that was checked is timed where it is.
#include "kernevo/base/worker_process.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/toolchain/toolchain.h"
#include "places.h"
#include "scripted_kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace kernevo {
namespace {

class WorkerReuse : public testing::Test {
protected:
  static void SetUpTestSuite() { set_worker_program(program_path()); }
  void SetUp() override {
    if (const auto toolchain = find_toolchain(); !toolchain)
      GTEST_SKIP() << toolchain.error().message;
    task_ = task_of(scripted_task("[[4096]]"));
    device_ = *open_device(DeviceChoice{}, task_.target_gpu);
  }

  // Adds, and has a comment that nobody has compiled before.
  static KernelFile new_kernel() {
    std::random_device chance;
    return kernel_of(
        fmt::format("__global__ void add(const float* A, const float* B, float* C, int N) {{\n"
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x; // {} {}\n"
                    "  if (i < N) C[i] = A[i] + B[i];\n}}\n",
                    chance(), chance()));
  }

  static std::uint64_t compilers() { return worker_counts("compile").workers; }
  static std::uint64_t executors() { return worker_counts("execute").workers; }

  Task task_;
  std::shared_ptr<Device> device_;
};

TEST_F(WorkerReuse, AKernelIsCheckedAndTimedInOneProcess) {
  const KernelFile kernel = new_kernel();
  const auto prepared = prepare_kernel(*device_, task_, kernel, {});
  ASSERT_TRUE(prepared) << format_error(prepared.error());
  const std::uint64_t before = executors();
  CheckOptions small;
  small.small_only = true;
  EXPECT_TRUE(check_prepared(*device_, *prepared, small)->verdict.correct);
  EXPECT_EQ(executors() - before, 1U);
  EXPECT_TRUE(bench_prepared(*device_, *prepared, {})->objective);
  EXPECT_TRUE(check_prepared(*device_, *prepared, {})->verdict.correct);
  EXPECT_EQ(executors() - before, 1U) << "timed and confirmed where it was checked";
  CheckOptions fresh;
  fresh.fresh_process = true;
  EXPECT_TRUE(check_prepared(*device_, *prepared, fresh)->verdict.correct);
  EXPECT_EQ(executors() - before, 2U) << "where nobody has run it, as was asked";
}

TEST_F(WorkerReuse, AKnownBuildStartsNoCompiler) {
  const KernelFile kernel = new_kernel();
  std::uint64_t before = compilers();
  ASSERT_TRUE(prepare_kernel(*device_, task_, kernel, {}));
  EXPECT_EQ(compilers() - before, 1U);
  const auto cached = prepare_kernel(*device_, task_, kernel, {});
  ASSERT_TRUE(cached);
  if (!cached->build.from_cache)
    GTEST_SKIP() << "there is no build cache here";
  EXPECT_EQ(compilers() - before, 1U);
  EXPECT_LE(worker_counts("compile").nurseries, 1U) << "one gets ready for all";
}

TEST_F(WorkerReuse, AnotherKernelGetsAProcessOfItsOwn) {
  const KernelFile first = new_kernel();
  KernelFile second = new_kernel();
  second.path = "second.cu"; // comments alone would not tell them apart
  const std::uint64_t before = executors();
  CheckOptions small;
  small.small_only = true;
  EXPECT_TRUE(check_kernel(*device_, task_, first, small)->verdict.correct);
  EXPECT_TRUE(check_kernel(*device_, task_, second, small)->verdict.correct);
  EXPECT_EQ(executors() - before, 2U);
}

} // namespace
} // namespace kernevo
