#include "kernevo/evaluate/reference_oracle.h"

#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/load_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTask = "op_name: twice\ndtype: float32\ntarget_gpu: A100\narguments:\n"
                              "  - {name: x, direction: in, dtype: float32, shape: [N]}\n"
                              "  - {name: y, direction: out, dtype: float32, shape: [N]}\n"
                              "shapes: [{N: 64}]\ncheck_shapes: [{N: 37}]\n"
                              "launch: twice<<<1, 64>>>(x, y, N)\nreference_kernel: |\n"
                              "  __global__ void twice(const float* x, float* y, int N) {}\n";

// Every run ends like this one.
class DoomedDevice final : public Device {
public:
  explicit DoomedDevice(Result<RunOutcome> end) : end_(std::move(end)) {}

  const DeviceIdentity& identity() const override { return identity_; }
  DeviceCapabilities capabilities() const override { return {}; }
  Result<std::string> fingerprint() const override { return std::string("doomed"); }
  Result<std::string> architecture() const override { return std::string("sm_80"); }
  Result<Build> build(const CompileRequest&) override {
    Build build;
    build.ok = true;
    return build;
  }
  Result<LoadOutcome> load(const std::string&, const std::string&, const ModuleLimits&) override {
    return LoadOutcome{std::make_unique<Module>(end_), std::nullopt};
  }

private:
  class Module final : public LoadedModule {
  public:
    explicit Module(const Result<RunOutcome>& end) : end_(end) {}
    Result<RunOutcome> run(const RunRequest&, const Arena&) override { return end_; }

  private:
    const Result<RunOutcome>& end_;
  };

  DeviceIdentity identity_{"doomed:A100", find_gpu("A100").value(), TimingMethod::modelled};
  Result<RunOutcome> end_;
};

Error trouble_of(Result<RunOutcome> end) {
  DoomedDevice device(std::move(end));
  const Task task = parse_task(kTask, "task.yaml").value().task;
  const auto oracle = make_reference_oracle(device, task, {}, {});
  EXPECT_TRUE(oracle) << format_error(oracle.error());
  const Problem problem = make_problem(task, task.shapes.front()).value();
  const std::int64_t point = 0;
  const auto expected =
      oracle->expectation(make_inputs(problem, InputSet::nominal, 1), 1, {&point, 1});
  EXPECT_FALSE(expected);
  return expected.error();
}

TEST(ReferenceOracle, AMachineThatFailsIsNoFaultOfTheReference) {
  const Error error =
      trouble_of(fail(ErrorCode::infrastructure, "the system killed the execution worker"));
  EXPECT_EQ(error.code, ErrorCode::infrastructure);
  EXPECT_THAT(format_error(error), Not(HasSubstr("reference")));
}

TEST(ReferenceOracle, AReferenceThatFailsIsToBeMended) {
  Finding finding;
  finding.kind = FindingKind::out_of_bounds;
  finding.message = "load past the end";
  const Error error = trouble_of(RunOutcome::stopped_by(finding));
  EXPECT_EQ(error.code, ErrorCode::input);
  EXPECT_THAT(format_error(error), HasSubstr("mend the task's reference_kernel"));
}

} // namespace
} // namespace kernevo
