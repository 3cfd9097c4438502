// What a device that measures is believed: shots whose outputs hold, episodes it does not call
// disturbed, and verdicts that repeat from the shots on file.
#include "kernevo/evaluate/contest.h"

#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/compare.h"
#include "scripted_kernels.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace kernevo {
namespace {

using testing::HasSubstr;

const std::string kTask = scripted_task("[[65536]]");

BenchResult bench(FakeDevice& device, const std::string& source,
                  const std::string& task_text = kTask) {
  const Task task = task_of(task_text);
  const KernelFile kernel = kernel_of(source);
  BenchOptions options;
  options.seed = 4711;
  auto result = bench_kernel(device, task, kernel, options);
  EXPECT_TRUE(result) << format_error(result.error());
  return std::move(result).value();
}

std::string indented(const std::string& text) {
  std::string all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    all += "  " + line + "\n";
  return all;
}

// A GPU: no instruments, and a companion that has them.
std::shared_ptr<FakeDevice> gpu(FakeScript script = scripted_kernels(),
                                const std::shared_ptr<FakeDevice>& companion = fake_device()) {
  script.instrumented = false;
  script.name = "cuda:0";
  auto device = fake_device(std::move(script));
  device->accompany({companion, "the same GPU"});
  return device;
}

// The first answer, kept: right when it is checked once, and fast ever after.
FakeScript remembering(std::function<bool(const float*, const float*)> knows) {
  FakeScript script = scripted_kernels();
  struct Memory {
    std::vector<float> answer;
    std::vector<float> a;
  };
  auto memory = std::make_shared<Memory>();
  script.timed_run = [memory, knows, plain = script.run](
                         const std::string& source, const RunRequest& request, const Arena& arena) {
    const auto floats = [&](std::size_t tensor) {
      const auto region = arena.region(request.tensors.at(tensor).region);
      return std::span(reinterpret_cast<float*>(region.data()), // NOLINT: as a device sees it
                       region.size() / sizeof(float));
    };
    const auto a = floats(0);
    const auto c = floats(2);
    if (!memory->answer.empty() && knows(memory->a.data(), a.data())) {
      std::ranges::copy(memory->answer, c.begin());
      return RunOutcome{};
    }
    RunOutcome outcome = plain(source, request, arena);
    memory->answer.assign(c.begin(), c.end());
    memory->a.assign(a.begin(), a.end());
    return outcome;
  };
  return script;
}

TEST(MeasuredHonesty, AnAnswerThatIsKeptIsFoundOut) {
  const auto device = gpu(remembering([](const float*, const float*) { return true; }));
  const BenchResult result = bench(*device, scripted_add("takes(1000);"));
  EXPECT_EQ(result.fault, FaultKind::correctness_mismatch) << result.summary;
  EXPECT_THAT(result.summary, HasSubstr("wrong while it was timed: C["));
  EXPECT_TRUE(result.cases.empty());
  EXPECT_LT(device->counts().shots, 5);
}

// By a fingerprint of a few inputs: what changes between shots is not among them.
TEST(MeasuredHonesty, AnAnswerKeptByAFingerprintIsFoundOut) {
  const BenchResult result = bench(*gpu(remembering([](const float* had, const float* has) {
    return had[0] == has[0] && had[30000] == has[30000] && had[65535] == has[65535];
  })),
                                   scripted_add("takes(1000);"));
  EXPECT_EQ(result.fault, FaultKind::correctness_mismatch) << result.summary;
}

TEST(MeasuredHonesty, WhoWritesNothingWhenItIsTimedIsFoundOut) {
  FakeScript script = scripted_kernels();
  script.timed_run = [](const std::string&, const RunRequest&, const Arena&) {
    return RunOutcome{};
  };
  EXPECT_EQ(bench(*gpu(std::move(script)), scripted_add("")).fault,
            FaultKind::correctness_mismatch);
}

TEST(MeasuredHonesty, AFaultInAShotIsTheKernels) {
  FakeScript script = scripted_kernels();
  script.timed_run = [](const std::string&, const RunRequest&, const Arena&) {
    Finding finding;
    finding.kind = FindingKind::out_of_bounds;
    finding.message = "an illegal address";
    return RunOutcome::stopped_by(finding);
  };
  const BenchResult result = bench(*gpu(std::move(script)), scripted_add(""));
  EXPECT_EQ(result.fault, FaultKind::memory_safety_error);
  EXPECT_THAT(result.summary, HasSubstr("while it was timed: an illegal address"));
}

// The task's own reference is the oracle: contents of the inputs take turns.
TEST(MeasuredHonesty, WhereTheReferenceIsTheOracleInputsTakeTurns) {
  const std::string task =
      "op_name: own_add\narguments:\n  - {name: A, shape: [N]}\n  - {name: B, shape: [N]}\n"
      "  - {name: C, shape: [N], direction: out}\n"
      "shapes: [{N: 65536}]\ndtype: float32\ntarget_gpu: A100\n"
      "launch: add<<<1, 64>>>(A, B, C, N)\nreference_kernel: |\n" +
      indented(scripted_add("takes(500);"));
  EXPECT_FALSE(bench(*gpu(), scripted_add("takes(1000);"), task).fault);
  const auto device = gpu(remembering([](const float*, const float*) { return true; }));
  EXPECT_EQ(bench(*device, scripted_add("takes(1000);"), task).fault,
            FaultKind::correctness_mismatch);
}

TEST(MeasuredHonesty, ADisturbedTimingIsTakenAgainAndThenMarked) {
  FakeScript script = scripted_kernels();
  script.state = [](int) {
    DeviceState state;
    state.celsius = 91;
    state.clocks.multiprocessor_mhz = 765;
    state.disturbances = {"throttled by heat"};
    return state;
  };
  const BenchResult result = bench(*gpu(std::move(script)), scripted_add("takes(1000);"));
  ASSERT_EQ(result.cases.size(), 1U);
  const Timing& timing = result.cases[0].timing;
  EXPECT_EQ(timing.quality.grade, TimingGrade::disturbed);
  EXPECT_EQ(timing.quality.reason, "throttled by heat, each of 3 times");
  EXPECT_EQ(disturbance_of(result), timing.quality.reason);
  EXPECT_EQ(timing.receipt.celsius, 91);
  ASSERT_TRUE(timing.receipt.clocks);
  EXPECT_EQ(timing.receipt.clocks->multiprocessor_mhz, 765);
}

TEST(MeasuredHonesty, AQuietSecondTryCounts) {
  FakeScript script = scripted_kernels();
  script.state = [](int asked) {
    DeviceState state;
    if (asked < 2) // before and after the first try
      state.disturbances = {"process 4711 runs on it, too"};
    return state;
  };
  const BenchResult result = bench(*gpu(std::move(script)), scripted_add("takes(1000);"));
  EXPECT_EQ(result.cases.at(0).timing.quality.grade, TimingGrade::good);
  EXPECT_TRUE(disturbance_of(result).empty());
}

// At first no shot at all is quiet.
TEST(MeasuredHonesty, ATryWithoutAQuietShotIsTakenAgain) {
  FakeScript script = scripted_kernels();
  const auto device_is_hot = std::make_shared<std::atomic<bool>>(true);
  script.own_noise = [device_is_hot] { return Disturbance{0.4, device_is_hot->load()}; };
  script.state = [device_is_hot](int asked) {
    DeviceState state;
    if (asked < 2)
      state.disturbances = {"throttled by heat"};
    *device_is_hot = asked < 2;
    return state;
  };
  const BenchResult result = bench(*gpu(std::move(script)), scripted_add("takes(1000);"));
  EXPECT_EQ(result.cases.at(0).timing.quality.grade, TimingGrade::good);
}

TEST(MeasuredHonesty, ADisturbedComparisonIsNoVerdict) {
  FakeScript script = scripted_kernels();
  script.state = [](int) {
    DeviceState state;
    state.disturbances = {"throttled by its power limit"};
    return state;
  };
  const auto device = gpu(std::move(script));
  const Task task = task_of(kTask);
  const KernelFile a = kernel_of(scripted_add("takes(1000);"), "a.cu");
  const KernelFile b = kernel_of(scripted_add("takes(500);"), "b.cu");
  const auto result = compare_kernels(*device, task, {&a, {}}, {&b, {}}, {});
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_EQ(result->overall.standing, Standing::ambiguous) << "however clear it looks";
  EXPECT_THAT(result->overall.reason, HasSubstr("throttled by its power limit"));
  EXPECT_FALSE(replaces_incumbent(result->overall));
}

TEST(MeasuredHonesty, ADeviceThatIsGoneIsNobodysFault) {
  FakeScript script = scripted_kernels();
  script.dies_after = 10;
  const auto device = gpu(std::move(script));
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(scripted_add("takes(1000);"));
  const auto result = bench_kernel(*device, task, kernel, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unavailable);
  EXPECT_EQ(exit_code(result.error().code), 3);
}

Contest contest(FakeDevice& device, const std::string& a, const std::string& b,
                const std::string& task_text = scripted_task("[[4096], [65536]]")) {
  const Task task = task_of(task_text);
  const KernelFile first = kernel_of(a, "a.cu");
  const KernelFile second = kernel_of(b, "b.cu");
  const auto x = prepare_kernel(device, task, first, {});
  const auto y = prepare_kernel(device, task, second, {});
  BenchOptions options;
  options.seed = 99;
  auto held = hold_contest(device, task, *x, *y, options);
  EXPECT_TRUE(held) << format_error(held.error());
  return std::move(held).value();
}

TEST(MeasuredHonesty, AContestOnFileGivesTheSameVerdict) {
  for (const char* noise : {"gaussian_1", "steps", "lognormal_tail"}) {
    FakeScript script = scripted_kernels();
    script.noise = noise;
    const auto device = gpu(std::move(script));
    for (const char* time : {"takes(100 * N);", "takes(96 * N);", "takes(104 * N);"}) {
      const Contest held = contest(*device, scripted_add("takes(100 * N);"), scripted_add(time));
      const auto read = contest_from_json(to_json(held), Objective::geometric_mean_speedup);
      ASSERT_TRUE(read) << format_error(read.error());
      EXPECT_EQ(read->overall.standing, held.overall.standing);
      ASSERT_TRUE(read->overall.ratio);
      EXPECT_DOUBLE_EQ(read->overall.ratio->estimate, held.overall.ratio->estimate);
      EXPECT_EQ(read->cases[1].episode.candidate.samples.size(),
                held.cases[1].episode.candidate.samples.size());
    }
  }
}

TEST(MeasuredHonesty, TimesAreOnTheScaleOfTheIncumbent) {
  const auto device = gpu();
  const Contest held =
      contest(*device, scripted_add("takes(100 * N);"), scripted_add("takes(80 * N);"));
  const std::vector<ShapeTime> had = {{"4096", {1000}, {990}, {1010}},
                                      {"65536", {5000}, {4900}, {5100}}};
  const auto times = times_beside(had, held);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_NEAR(times[0].time.value, 800, 1e-6);
  EXPECT_NEAR(times[1].time.value, 4000, 1e-6);
}

// --- who checks what

TEST(CheckOnBoth, SmallShapesRunOnTheCompanionAndRealOnesWholeOnTheDevice) {
  const auto companion = fake_device();
  const auto device = gpu(scripted_kernels(), companion);
  const Task task = task_of(scripted_task("[[4096], [100000]]"));
  const KernelFile kernel = kernel_of(scripted_add(""));
  const auto result = check_kernel(*device, task, kernel, {});
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_TRUE(result->verdict.correct) << result->verdict.summary;
  EXPECT_EQ(result->verdict.judged_by,
            "small shapes with every sanitizer on fake:A100, the same GPU; real shapes whole on "
            "cuda:0:A100");
  for (const RunRequest& request : companion->requests()) {
    const auto* n = std::get_if<std::int64_t>(&request.plan.launches[0].arguments.back().value);
    ASSERT_NE(n, nullptr);
    EXPECT_NE(*n, 100000) << "a real shape ran on the companion";
  }
  ASSERT_GE(device->requests().size(), 4U) << "two kinds of inputs at least on each real shape";
  for (const RunRequest& request : device->requests()) {
    const auto* n = std::get_if<std::int64_t>(&request.plan.launches[0].arguments.back().value);
    EXPECT_TRUE(*n == 4096 || *n == 100000) << *n;
    EXPECT_FALSE(request.instruments.sanitize);
    EXPECT_TRUE(request.instruments.only_blocks.empty());
  }
  EXPECT_EQ(device->counts().loads, 1) << "launched again and again on one module";
  for (const CheckedCase& one : result->verdict.cases)
    EXPECT_EQ(one.elements_checked, one.elements) << one.case_id << " " << one.distribution;
}

TEST(CheckOnBoth, WhatIsWrongOnTheDeviceAloneIsFoundThere) {
  FakeScript script = scripted_kernels();
  script.run = [plain = script.run](const std::string& source, const RunRequest& request,
                                    const Arena& arena) {
    RunOutcome outcome = plain(source, request, arena);
    const auto c = arena.region(request.tensors.at(2).region);
    std::ranges::fill(c.last(4), std::byte{0xFF}); // the last element was never written
    return outcome;
  };
  const auto device = gpu(std::move(script));
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(scripted_add(""));
  const auto result = check_kernel(*device, task, kernel, {});
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_EQ(result->verdict.rung, Rung::real_shapes);
  EXPECT_EQ(result->verdict.fault, FaultKind::correctness_mismatch);
}

TEST(CheckOnBoth, SmallShapesAloneNeverTouchTheDevice) {
  const auto device = gpu();
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(scripted_add(""));
  CheckOptions options;
  options.small_only = true;
  const auto result = check_kernel(*device, task, kernel, options);
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_TRUE(result->verdict.correct);
  EXPECT_EQ(device->counts().loads, 0);
}

TEST(CheckOnBoth, ASanitizersFindingOnTheCompanionIsTheVerdict) {
  const auto device = gpu();
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(scripted_add("faults(N != 65536);"));
  const auto result = check_kernel(*device, task, kernel, {});
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_EQ(result->verdict.fault, FaultKind::memory_safety_error);
  EXPECT_NE(result->verdict.rung, Rung::real_shapes);
  EXPECT_EQ(device->counts().runs, 0);
}

// --- stand-ins

TEST(StandIn, ItsTimesAreNeverCalledMeasured) {
  FakeScript script = scripted_kernels();
  script.stand_in = "virtual A100, kernevo 0.1.0";
  const auto device = gpu(std::move(script));
  const BenchResult result = bench(*device, scripted_add("takes(1000);"));
  EXPECT_EQ(result.device.method, TimingMethod::stand_in);
  const Timing& timing = result.cases.at(0).timing;
  EXPECT_EQ(name_of(timing.method), "modelled_by_stand_in");
  EXPECT_EQ(timing.receipt.stand_in, "virtual A100, kernevo 0.1.0");
  EXPECT_THAT(to_json(contest(*device, scripted_add("takes(100);"), scripted_add("takes(90);"))),
              testing::Not(HasSubstr("measured")));
}

} // namespace
} // namespace kernevo
