// Real kernels on the virtual GPU.
#include "kernevo/tune/kernel_objective.h"

#include "kernevo/device/open_device.h"
#include "kernevo/task/load_task.h"
#include "kernevo/tune/tuning_subject.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::tune {
namespace {

using search::Outcome;
using search::Trial;

// STEP apart: threads of a warp touch as many lines. SAME changes nothing. BAD breaks the result,
// the build or the launch.
constexpr const char* kKernel =
    "// @tune THREADS 128 256\n"
    "// @tune STEP 1 32\n"
    "// @tune SAME 1 2 3\n"
    "// @tune BAD 0 1 2 3\n"
    "// @launch add<<<ceil_div(N, THREADS), THREADS, BAD == 3 ? 1000000 : 0>>>(A, B, C, N)\n"
    "#if BAD == 2\n"
    "#error no such kernel\n"
    "#endif\n"
    "extern \"C\" __global__ void add(const float* A, const float* B, float* C, int N) {\n"
    "  const int i = blockIdx.x * THREADS + threadIdx.x;\n"
    "  const int rows = N / STEP;\n"
    "  const int at = i < rows * STEP ? i % rows * STEP + i / rows : i;\n"
    "  if (SAME > 0 && at < N) C[at] = A[at] + B[at] + (BAD == 1 ? 1.0f : 0.0f);\n"
    "}\n";

class KernelObjectiveTest : public KernelTest {
protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped())
      return;
    auto loaded = load_task(folder_.write(
        "task.yaml",
        "op_name: add\nshapes: [[65536], [131072]]\ndtype: float32\ntarget_gpu: A100\n"));
    ASSERT_TRUE(loaded) << format_error(loaded.error());
    task_ = std::move(loaded->task);
    kernel_ = *parse_kernel_file(kKernel, "add.cu");
    device_ = *open_device(DeviceChoice{}, task_.target_gpu);
  }

  static ParameterValues values(std::int64_t step, std::int64_t same, std::int64_t bad,
                                std::int64_t threads = 128) {
    return {{"THREADS", threads}, {"STEP", step}, {"SAME", same}, {"BAD", bad}};
  }

  const TestFolder folder_;
  Task task_;
  KernelFile kernel_;
  std::shared_ptr<Device> device_;
};

TEST_F(KernelObjectiveTest, TimesEveryShapeAndKeepsTheCounters) {
  KernelObjective objective(*device_, task_, kernel_, {}, 1);
  const auto trial = objective.evaluate(values(1, 1, 0), nullptr);
  ASSERT_TRUE(trial) << format_error(trial.error());
  EXPECT_EQ(trial->outcome, Outcome::ok) << trial->reason;
  ASSERT_EQ(trial->shapes.size(), 2U);
  EXPECT_LT(trial->shapes[0].low, trial->shapes[0].time);
  EXPECT_GT(trial->counters.at("bound.dram.ns"), 0);
  EXPECT_GT(trial->counters.at("registers"), 0);
  const auto strided = objective.evaluate(values(32, 1, 0), nullptr);
  ASSERT_TRUE(strided);
  EXPECT_GT(*strided->time, *trial->time);
}

TEST_F(KernelObjectiveTest, TheSameCodeIsProfiledOnce) {
  KernelObjective objective(*device_, task_, kernel_, {}, 1);
  const auto first = objective.evaluate(values(1, 1, 0), nullptr);
  EXPECT_EQ(objective.same_code(), 0U);
  const auto second = objective.evaluate(values(1, 2, 0), nullptr);
  EXPECT_EQ(objective.same_code(), 1U);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->shapes, first->shapes);
  EXPECT_EQ(second->counters, first->counters);
  // The launch is part of what the code is.
  ASSERT_TRUE(objective.evaluate(values(1, 1, 0, 256), nullptr));
  EXPECT_EQ(objective.same_code(), 1U);
}

TEST_F(KernelObjectiveTest, AClearlySlowerOneIsGivenUpAfterItsFirstShape) {
  KernelObjective objective(*device_, task_, kernel_, {}, 1);
  auto best = objective.evaluate(values(1, 1, 0), nullptr);
  ASSERT_TRUE(best);
  // An incumbent ten times as fast as the real one.
  for (ShapeTime& shape : best->shapes)
    shape = {shape.shape, shape.time * 0.1, shape.low * 0.1, shape.high * 0.1};
  best->time = *best->time * 0.1;
  const auto dropped = objective.evaluate(values(32, 1, 0), &*best);
  ASSERT_TRUE(dropped);
  EXPECT_TRUE(dropped->partial);
  EXPECT_EQ(dropped->shapes.size(), 1U);
  EXPECT_GT(*dropped->time, *best->time);
  // The answer is the same where the whole is known from the same code.
  ASSERT_TRUE(objective.evaluate(values(32, 2, 0), nullptr));
  const auto known = objective.evaluate(values(32, 3, 0), &*best);
  ASSERT_TRUE(known);
  EXPECT_EQ(objective.same_code(), 1U);
  EXPECT_TRUE(known->partial);
  EXPECT_EQ(known->shapes, dropped->shapes);
  EXPECT_EQ(*known->time, *dropped->time);
  EXPECT_EQ(known->counters, dropped->counters);
}

TEST_F(KernelObjectiveTest, FailuresSayOfWhatKindAndWhy) {
  KernelObjective objective(*device_, task_, kernel_, {}, 1);
  const auto compile = objective.evaluate(values(1, 1, 2), nullptr);
  ASSERT_TRUE(compile);
  EXPECT_EQ(compile->outcome, Outcome::compile);
  EXPECT_NE(compile->reason.find("no such kernel"), std::string::npos) << compile->reason;
  const auto resources = objective.evaluate(values(1, 1, 3), nullptr);
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->outcome, Outcome::resources) << resources->reason;
  EXPECT_FALSE(resources->reason.empty());
  const auto wrong = objective.check(values(1, 1, 1));
  ASSERT_TRUE(wrong && *wrong);
  EXPECT_NE((*wrong)->find("correctness_mismatch"), std::string::npos) << **wrong;
  const auto right = objective.check(values(1, 1, 0));
  ASSERT_TRUE(right);
  EXPECT_FALSE(*right) << **right;
}

TEST_F(KernelObjectiveTest, TheSpaceLeavesOutLaunchesThatCannotBe) {
  const auto subject = prepare_subject(task_, kernel_, *device_);
  ASSERT_TRUE(subject) << format_error(subject.error());
  EXPECT_EQ(subject->space.combinations(), 48);
  EXPECT_EQ(subject->space.size(), 36U) << "without BAD = 3, which asks for a megabyte";
  ASSERT_TRUE(subject->defaults);
  EXPECT_EQ(subject->space.values(*subject->defaults), values(1, 1, 0));
}

TEST_F(KernelObjectiveTest, AnotherKernelTaskOrGpuIsAnotherSubject) {
  const auto subject = *prepare_subject(task_, kernel_, *device_);
  EXPECT_EQ(prepare_subject(task_, kernel_, *device_)->kernel_id, subject.kernel_id);
  EXPECT_EQ(prepare_subject(task_, kernel_, *device_)->device_id, subject.device_id);
  EXPECT_NE(
      prepare_subject(task_, kernel_, **open_device(DeviceName::of_virtual("H100")))->device_id,
      subject.device_id);
  const KernelFile other = *parse_kernel_file(std::string(kKernel) + "// faster\n", "add.cu");
  EXPECT_NE(prepare_subject(task_, other, *device_)->kernel_id, subject.kernel_id);
  std::ofstream(task_.file, std::ios::app) << "objective: worst_case\n";
  EXPECT_NE(prepare_subject(task_, kernel_, *device_)->kernel_id, subject.kernel_id);
}

} // namespace
} // namespace kernevo::tune
