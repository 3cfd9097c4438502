// What every device must do, whatever it is: a new one is a line in the list at the end.
#include "cuda_under_test.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/timing/shots.h"
#include "kernevo/toolchain/toolchain.h"
#include "places.h"
#include "scripted_kernels.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct DeviceUnderTest {
  std::string name;
  std::function<Result<std::shared_ptr<Device>>()> open; // or why it cannot be tried here
};
void PrintTo(const DeviceUnderTest& device, std::ostream* out) {
  *out << device.name;
}

// A kernel for compilers that also says to a fake what it does.
std::string kernel_text(const std::string& said, const std::string& body) {
  return "#define wrong(x)\n#define faults(x)\n#define refuses(x)\n"
         "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
         "  " +
         said + ";\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + body + "\n}\n";
}

const std::string kRight = kernel_text("", "if (i < N) C[i] = A[i] + B[i];");
const std::string kWrong = kernel_text("wrong(1)", "if (i < N) C[i] = A[i] - B[i];");
const std::string kFaulty = kernel_text("faults(1)", "if (i < N) C[i] = A[i + 100000000] + B[i];");
const std::string kBroken = kernel_text("refuses(1)", "this is no C;");

class EveryDevice : public testing::TestWithParam<DeviceUnderTest> {
protected:
  static void SetUpTestSuite() { set_worker_program(program_path()); }
  void SetUp() override {
    auto opened = GetParam().open();
    if (!opened)
      GTEST_SKIP() << format_error(opened.error());
    device_ = std::move(*opened);
  }

  Verdict check(const std::string& source) {
    const KernelFile kernel = kernel_of(source);
    CheckOptions options;
    options.seed = 3;
    auto result = check_kernel(*device_, task_, kernel, options);
    EXPECT_TRUE(result) << format_error(result.error());
    return result ? result->verdict : Verdict{};
  }

  const Task task_ = task_of(scripted_task("[[4096]]"));
  std::shared_ptr<Device> device_;
};

TEST_P(EveryDevice, SaysWhoItIs) {
  const DeviceIdentity& identity = device_->identity();
  EXPECT_EQ(identity.name, GetParam().name);
  EXPECT_THAT(identity.gpu.name, Not(IsEmpty()));
  EXPECT_EQ(identity.method == TimingMethod::measured,
            device_->capabilities().measures && identity.stand_in.empty());
  const auto fingerprint = device_->fingerprint();
  ASSERT_TRUE(fingerprint) << format_error(fingerprint.error());
  EXPECT_THAT(*fingerprint, HasSubstr(identity.name));
  EXPECT_THAT(*fingerprint, Not(HasSubstr("\n")));
  EXPECT_EQ(*device_->fingerprint(), *fingerprint);
  const auto architecture = device_->architecture();
  ASSERT_TRUE(architecture) << format_error(architecture.error());
  EXPECT_THAT(*architecture, testing::StartsWith("sm_"));
}

TEST_P(EveryDevice, TellsRightFromWrong) {
  EXPECT_TRUE(check(kRight).correct);
  const Verdict wrong = check(kWrong);
  EXPECT_EQ(wrong.fault, FaultKind::correctness_mismatch) << wrong.summary;
}

TEST_P(EveryDevice, ASourceThatDoesNotCompileIsABuildWithItsPlace) {
  const Verdict broken = check(kBroken);
  EXPECT_EQ(broken.rung, Rung::compile);
  ASSERT_FALSE(broken.diagnostics.empty());
  EXPECT_EQ(broken.diagnostics.front().place.file, "kernel.cu");
  EXPECT_GT(broken.diagnostics.front().place.line, 0);
}

TEST_P(EveryDevice, AFaultIsAFindingAndTheDeviceGoesOn) {
  const Verdict faulty = check(kFaulty);
  ASSERT_TRUE(faulty.fault) << faulty.summary;
  ASSERT_TRUE(faulty.finding) << faulty.summary;
  EXPECT_THAT(faulty.finding->message, Not(IsEmpty()));
  EXPECT_TRUE(check(kRight).correct);
}

TEST_P(EveryDevice, AModuleRunsAgainAndWritesWhereItWasTold) {
  const KernelFile kernel = kernel_of(kRight);
  const auto prepared = prepare_kernel(*device_, task_, kernel, {});
  ASSERT_TRUE(prepared && !prepared->fault);
  const auto loaded = load_kernel(*device_, *prepared, {});
  ASSERT_TRUE(loaded && !loaded->refusal);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto outputs = run_reference(
        *loaded->subject, kernel.path,
        make_inputs(*make_problem(task_, task_.shapes.front()), InputSet::nominal, seed), 0, 60);
    ASSERT_TRUE(outputs) << format_error(outputs.error());
    const auto inputs =
        make_inputs(*make_problem(task_, task_.shapes.front()), InputSet::nominal, seed);
    const auto element = [](const std::vector<std::byte>& bytes, std::int64_t i) {
      return load_element(DType::float32, bytes.data(), i);
    };
    for (const std::int64_t i : {0, 1, 2048, 4095})
      EXPECT_FLOAT_EQ(
          static_cast<float>(element(outputs->outputs[2], i)),
          static_cast<float>(element(inputs.initial[0], i) + element(inputs.initial[1], i)));
  }
}

TEST_P(EveryDevice, GivesTimesWithTheirMethodAndItsName) {
  const KernelFile kernel = kernel_of(kRight);
  const auto timed = bench_kernel(*device_, task_, kernel, {});
  ASSERT_TRUE(timed) << format_error(timed.error());
  ASSERT_FALSE(timed->fault) << timed->summary;
  EXPECT_GT(timed->objective->value, 0);
  const Timing& timing = timed->cases.front().timing;
  EXPECT_EQ(timing.method, device_->identity().method);
  EXPECT_EQ(timing.receipt.device, title_of(device_->identity()));
  EXPECT_TRUE(make_timing(timing));
}

TEST_P(EveryDevice, MakesShotsExactlyWhenItMeasures) {
  const KernelFile kernel = kernel_of(kRight);
  const auto prepared = prepare_kernel(*device_, task_, kernel, {});
  ASSERT_TRUE(prepared && !prepared->fault);
  const auto loaded = load_kernel(*device_, *prepared, {});
  ASSERT_TRUE(loaded && !loaded->refusal);
  const auto problem = make_problem(task_, task_.shapes.front());
  const KernelSubject& subject = *loaded->subject;
  const auto laid = lay_out(make_inputs(*problem, InputSet::nominal, 1), subject.instrumented());
  ASSERT_TRUE(laid);
  const RunRequest request = subject.request(*prepared->plan(*problem), laid->run);
  const Timed side{&subject.module(), &request, &laid->arena};
  const auto shots = device_->shots(side, &side, CacheState::cold);
  ASSERT_EQ(shots.has_value(), device_->capabilities().measures);
  if (!shots)
    return;
  const Nanoseconds before = device_->clock().now();
  for (const Side one : {Side::incumbent, Side::candidate, Side::incumbent}) {
    const auto shot = take_shot(**shots, one);
    ASSERT_TRUE(shot) << format_error(shot.error());
  }
  EXPECT_GT(device_->clock().now(), before);
}

DeviceUnderTest fake() {
  return {"fake:A100", []() -> Result<std::shared_ptr<Device>> { return fake_device(); }};
}

DeviceUnderTest without_instruments() {
  return {"fake:A100", []() -> Result<std::shared_ptr<Device>> {
            FakeScript script = scripted_kernels();
            script.instrumented = false;
            return fake_device(std::move(script));
          }};
}

DeviceUnderTest virtual_gpu() {
  return {"virtual:A100", []() -> Result<std::shared_ptr<Device>> {
            KERNEVO_CHECK(find_toolchain());
            return open_device(DeviceName::of_virtual("A100"));
          }};
}

DeviceUnderTest cuda() {
  return {"cuda:0", []() -> Result<std::shared_ptr<Device>> {
            KERNEVO_CHECK(find_toolchain());
            return open_cuda_under_test();
          }};
}

INSTANTIATE_TEST_SUITE_P(Fake, EveryDevice, testing::Values(fake()));
INSTANTIATE_TEST_SUITE_P(WithoutInstruments, EveryDevice, testing::Values(without_instruments()));
INSTANTIATE_TEST_SUITE_P(Virtual, EveryDevice, testing::Values(virtual_gpu()));
INSTANTIATE_TEST_SUITE_P(Cuda, EveryDevice, testing::Values(cuda()));

} // namespace
} // namespace kernevo
