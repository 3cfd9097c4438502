// The ladder on a device that is scripted: what the judge asks of a device and makes of its
// answers, without a compiler.
#include "kernevo/evaluate/check.h"

#include "scripted_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

const std::string kTask = scripted_task("[[4096], [100000]]");

CheckResult check(FakeDevice& device, const std::string& source, CheckOptions options = {}) {
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(source);
  options.seed = 11;
  auto result = check_kernel(device, task, kernel, options);
  EXPECT_TRUE(result) << format_error(result.error());
  return std::move(result).value();
}

CheckResult check(const std::string& source) {
  return check(*fake_device(), source);
}

TEST(CheckOnAFake, ARightKernelClimbsEveryRung) {
  const auto device = fake_device();
  const CheckResult result = check(*device, scripted_add(""));
  EXPECT_TRUE(result.verdict.correct) << result.verdict.summary;
  EXPECT_EQ(result.verdict.rung, Rung::real_shapes);
  EXPECT_EQ(result.device.name, "fake:A100");
  EXPECT_EQ(result.device.method, TimingMethod::measured);
  EXPECT_EQ(device->counts().builds, 1);
  EXPECT_EQ(device->counts().loads, 1);
  constexpr std::size_t sanitized = 4; // of each real shape a part, and its start
  EXPECT_EQ(static_cast<std::size_t>(device->counts().runs),
            result.verdict.cases.size() + sanitized);
}

TEST(CheckOnAFake, AWrongOutputIsNamedWithItsPlace) {
  const CheckResult result = check(scripted_add("wrong(1);"));
  EXPECT_FALSE(result.verdict.correct);
  EXPECT_EQ(result.verdict.fault, FaultKind::correctness_mismatch);
  EXPECT_EQ(result.verdict.rung, Rung::small_shapes);
  ASSERT_TRUE(result.verdict.mismatch);
  EXPECT_EQ(result.verdict.mismatch->buffer, "C");
  EXPECT_NEAR(result.verdict.mismatch->actual, result.verdict.mismatch->expected + 1000, 1e-3);
}

TEST(CheckOnAFake, WrongOnlyAtTheRealShapeIsFoundThere) {
  const std::string source = scripted_add("wrong(N == 100000);");
  const CheckResult result = check(source);
  EXPECT_EQ(result.verdict.fault, FaultKind::correctness_mismatch);
  EXPECT_EQ(result.verdict.rung, Rung::real_shapes);
  ASSERT_TRUE(result.verdict.failing_case);
  EXPECT_EQ(result.verdict.failing_case->case_id, "100000");
  // Who asks about small shapes only is not told.
  CheckOptions small;
  small.small_only = true;
  EXPECT_TRUE(check(*fake_device(), source, small).verdict.correct);
}

TEST(CheckOnAFake, AFaultOfTheDeviceIsTheKernels) {
  const CheckResult result = check(scripted_add("faults(N > 1);"));
  EXPECT_EQ(result.verdict.fault, FaultKind::memory_safety_error);
  EXPECT_EQ(result.verdict.fault_class, FaultClass::candidate);
  ASSERT_TRUE(result.verdict.finding);
  EXPECT_EQ(result.verdict.finding->kind, FindingKind::out_of_bounds);
  EXPECT_THAT(result.verdict.summary, HasSubstr("beyond the end of 'A' (case "));
}

TEST(CheckOnAFake, ARefusalToCompileIsNeverLoaded) {
  const auto device = fake_device();
  const CheckResult result = check(*device, scripted_add("refuses(1);"));
  EXPECT_EQ(result.verdict.fault, FaultKind::syntax_error);
  EXPECT_EQ(result.verdict.rung, Rung::compile);
  EXPECT_THAT(result.verdict.summary, HasSubstr("kernel.cu:1: refused by the script"));
  EXPECT_EQ(device->counts().loads, 0);
}

TEST(CheckOnAFake, AnOutputNobodyWroteIsNamed) {
  FakeScript script = scripted_kernels();
  script.marks_written = false;
  const CheckResult result = check(*fake_device(script), scripted_add(""));
  EXPECT_EQ(result.verdict.fault, FaultKind::uninitialized_memory_error);
  EXPECT_THAT(result.verdict.summary, HasSubstr("C[0] is never written"));
}

TEST(CheckOnAFake, AFreshProcessIsAskedForWhenItIsWanted) {
  const auto device = fake_device();
  CheckOptions fresh;
  fresh.fresh_process = true;
  EXPECT_TRUE(check(*device, scripted_add(""), fresh).verdict.correct);
  EXPECT_EQ(device->counts().fresh_loads, 1);
}

class WithoutInstruments : public testing::Test {
protected:
  static std::shared_ptr<FakeDevice> plain_device() {
    FakeScript script = scripted_kernels();
    script.instrumented = false;
    return fake_device(std::move(script));
  }

  static void expect_plain(const RunRequest& request) {
    const Instruments& instruments = request.instruments;
    EXPECT_FALSE(instruments.sanitize);
    EXPECT_TRUE(instruments.only_blocks.empty());
    EXPECT_FALSE(instruments.order.shuffled);
    EXPECT_EQ(instruments.order.seed, 0U);
    EXPECT_TRUE(instruments.profile.empty());
    EXPECT_FALSE(instruments.on_demand);
    for (const TensorBinding& tensor : request.tensors) {
      EXPECT_FALSE(tensor.written_region) << tensor.name;
      EXPECT_FALSE(tensor.recipe) << tensor.name;
    }
  }
};

TEST_F(WithoutInstruments, TheDeviceIsNeverAskedForAny) {
  const auto device = plain_device();
  CheckOptions options;
  options.order = RunOrder{true, 5}; // not even when somebody wants an order
  EXPECT_TRUE(check(*device, scripted_add(""), options).verdict.correct);
  const auto requests = device->requests();
  EXPECT_GT(requests.size(), 6U);
  for (const RunRequest& request : requests)
    expect_plain(request);
}

TEST_F(WithoutInstruments, WrongAndUnwrittenOutputsAreFoundAllTheSame) {
  EXPECT_EQ(check(*plain_device(), scripted_add("wrong(1);")).verdict.fault,
            FaultKind::correctness_mismatch);
  EXPECT_EQ(check(*plain_device(), scripted_add("silent(N == 100000);")).verdict.fault,
            FaultKind::correctness_mismatch);
}

TEST_F(WithoutInstruments, AnInputThatWasChangedIsFound) {
  const CheckResult result = check(*plain_device(), scripted_add("scribbles(1);"));
  EXPECT_EQ(result.verdict.fault, FaultKind::memory_safety_error);
  EXPECT_THAT(result.verdict.summary, HasSubstr("writes to the input 'A'"));
}

// The same kernels on a device with instruments: it is asked for them.
TEST(CheckOnAFake, SanitizersAndOrdersAreAskedOfAnInstrumentedDevice) {
  const auto device = fake_device();
  check(*device, scripted_add(""));
  int sanitized = 0;
  int shuffled = 0;
  for (const RunRequest& request : device->requests()) {
    sanitized += request.instruments.sanitize ? 1 : 0;
    shuffled += request.instruments.order.shuffled ? 1 : 0;
    EXPECT_TRUE(request.tensors.at(2).written_region);
  }
  EXPECT_GT(sanitized, 0);
  EXPECT_GT(shuffled, 0);
}

} // namespace
} // namespace kernevo
