// Times of a device that measures: as scripted, with and without noise.
#include "kernevo/evaluate/bench.h"

#include "kernevo/evaluate/explain_bench.h"
#include "kernevo/evaluate/result_json.h"
#include "scripted_kernels.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTask = scripted_task("[[4096], [65536]]");

BenchResult bench(FakeDevice& device, const std::string& source, const BenchOptions& options = {}) {
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(source);
  auto result = bench_kernel(device, task, kernel, options);
  EXPECT_TRUE(result) << format_error(result.error());
  return std::move(result).value();
}

TEST(BenchOnAFake, GivesTheScriptedTimesAsMeasured) {
  const auto device = fake_device();
  const BenchResult result = bench(*device, scripted_add("takes(1000 + N);"));
  ASSERT_FALSE(result.fault) << result.summary;
  EXPECT_EQ(result.device.method, TimingMethod::measured);
  ASSERT_EQ(result.cases.size(), 2U);
  EXPECT_DOUBLE_EQ(result.cases[0].timing.median.value, 5096);
  EXPECT_DOUBLE_EQ(result.cases[1].timing.median.value, 66536);
  ASSERT_TRUE(result.objective);
  EXPECT_NEAR(result.objective->value, std::sqrt(5096.0 * 66536.0), 1e-6);
  std::size_t samples = 0;
  for (const CaseBench& c : result.cases) {
    EXPECT_EQ(c.timing.method, TimingMethod::measured);
    EXPECT_TRUE(c.timing.terms.empty());
    EXPECT_TRUE(c.launches.empty());
    EXPECT_GE(c.timing.samples.size(), 10U);
    EXPECT_EQ(c.timing.receipt.device, "fake:A100");
    EXPECT_EQ(c.timing.receipt.shapes, "N=" + c.case_id);
    EXPECT_EQ(c.timing.receipt.tools.at("compiler"), "fake compiler");
    samples += c.timing.samples.size() + c.timing.quality.warm_up_shots;
  }
  EXPECT_EQ(static_cast<std::size_t>(device->counts().shots), samples);
}

TEST(BenchOnAFake, TheReceiptSaysWhatWasLoadedAndHowTheCachesWere) {
  FakeScript script = scripted_kernels();
  script.code = LoadedCode{CodeForm::cubin, "sm_80", "ptxas 13.2.86"};
  const auto device = fake_device(script);
  for (const bool hot : {false, true}) {
    BenchOptions options;
    options.hot_cache = hot;
    const BenchResult result = bench(*device, scripted_add("takes(N);"), options);
    ASSERT_FALSE(result.cases.empty());
    const Receipt& receipt = result.cases[0].timing.receipt;
    EXPECT_EQ(receipt.code, script.code);
    EXPECT_EQ(receipt.cache, hot ? CacheState::hot : CacheState::cold);
    EXPECT_EQ(device->counts().hot > 0, hot) << "the device is told";
  }
}

TEST(BenchOnAFake, HotCachesAreRefusedWhereTimesAreOfColdOnes) {
  FakeScript script = scripted_kernels();
  script.hot_cache = false;
  const auto device = fake_device(script);
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(scripted_add("takes(N);"));
  BenchOptions options;
  options.hot_cache = true;
  const auto result = bench_kernel(*device, task, kernel, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::usage);
  EXPECT_THAT(result.error().message, HasSubstr("--hot-cache"));
}

// The record of a measured bench says so wherever it is read.
TEST(BenchOnAFake, ItsRecordNeverSpeaksOfAModel) {
  const BenchResult result = bench(*fake_device(), scripted_add("takes(N);"));
  const std::string text = to_json(result);
  EXPECT_THAT(text, HasSubstr("measured"));
  EXPECT_THAT(text, Not(HasSubstr("modelled")));
  const auto read = bench_result_from_json(text);
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_EQ(read->device.name, "fake:A100");
  EXPECT_EQ(read->device.method, TimingMethod::measured);
  EXPECT_EQ(read->cases[1].timing.samples.size(), result.cases[1].timing.samples.size());
  // There is nothing to explain such times with, and nothing is made up.
  const auto explained = explain_bench(task_of(kTask), result, {});
  ASSERT_TRUE(explained) << format_error(explained.error());
  ASSERT_EQ(explained->size(), 2U);
  EXPECT_TRUE(explained->front().empty());
}

TEST(BenchOnAFake, NoiseHardlyMovesTheMedians) {
  struct Case {
    const char* noise;
    double near; // what the noise itself may move the median by
  };
  for (const Case& c :
       {Case{"gaussian_1", 0.01}, Case{"gaussian_5", 0.01}, Case{"lognormal_tail", 0.01},
        Case{"skewed", 0.03}, Case{"slow_start", 0.01}, Case{"throttled", 0.01}})
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const auto device = noisy_device(c.noise, seed);
      const BenchResult result = bench(*device, scripted_add("takes(10 * N);"));
      ASSERT_FALSE(result.fault) << result.summary;
      for (const CaseBench& one : result.cases) {
        const double plain = one.case_id == "4096" ? 40960 : 655360;
        EXPECT_NEAR(one.timing.median.value / plain, 1, c.near) << c.noise << " " << one.case_id;
        EXPECT_LE(one.timing.interval.low, one.timing.median);
        EXPECT_GE(one.timing.interval.high, one.timing.median);
      }
    }
}

TEST(BenchOnAFake, ShotsTheDeviceCallsDisturbedAreLeftOut) {
  BenchOptions options;
  options.measure.min_samples = 2000; // about six times is it throttled
  const BenchResult result = bench(*noisy_device("throttled"), scripted_add("takes(N);"), options);
  for (const CaseBench& c : result.cases) {
    EXPECT_GT(c.timing.quality.discarded, 0U);
    EXPECT_LT(*std::ranges::max_element(c.timing.samples), c.timing.median * 1.2);
  }
}

TEST(BenchOnAFake, AFaultAtOneShapeLeavesNoTimes) {
  const BenchResult result = bench(*fake_device(), scripted_add("takes(N); faults(N == 65536);"));
  EXPECT_EQ(result.fault, FaultKind::memory_safety_error);
  EXPECT_THAT(result.summary, HasSubstr("(case 65536)"));
  EXPECT_TRUE(result.cases.empty());
  EXPECT_FALSE(result.objective);
  EXPECT_FALSE(result.out_of_time);
}

TEST(BenchOnAFake, ARefusalToCompileIsNeverTimed) {
  const auto device = fake_device();
  const BenchResult result = bench(*device, scripted_add("refuses(1);"));
  EXPECT_EQ(result.fault, FaultKind::syntax_error);
  EXPECT_EQ(device->counts().loads, 0);
  EXPECT_EQ(device->counts().shots, 0);
}

TEST(BenchOnAFake, StopsWhenNoMoreIsWanted) {
  const auto device = fake_device();
  BenchOptions options;
  options.go_on_timed = [](const std::vector<CaseBench>& cases) {
    EXPECT_EQ(cases.size(), 1U);
    return false;
  };
  const BenchResult result = bench(*device, scripted_add("takes(N);"), options);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.cases.size(), 1U);
  EXPECT_FALSE(result.objective);
  EXPECT_EQ(device->counts().runs, 1) << "the second shape was not even laid out";
}

TEST(BenchOnAFake, ALimitOfTimeEndsWhatNeverConverges) {
  BenchOptions options;
  options.measure.time_limit = Nanoseconds{1e6};
  const BenchResult result =
      bench(*noisy_device("gaussian_5"), scripted_add("takes(300000);"), options);
  for (const CaseBench& c : result.cases) {
    EXPECT_LE(c.timing.samples.size(), 5U) << "a millisecond at 0.3 each";
    EXPECT_EQ(c.timing.quality.grade, TimingGrade::noisy);
    EXPECT_THAT(c.timing.quality.reason, HasSubstr("the limit of 0.001 s"));
  }
}

TEST(BenchOnAFake, ADeviceThatNeitherMeasuresNorCountsHasNoTimes) {
  FakeScript script = scripted_kernels();
  script.instrumented = false;
  script.measures = false;
  const auto device = fake_device(std::move(script));
  const Task task = task_of(kTask);
  const KernelFile kernel = kernel_of(scripted_add(""));
  const auto result = bench_kernel(*device, task, kernel, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::infrastructure) << "no kernel is to blame";
  EXPECT_THAT(format_error(result.error()), HasSubstr("fake:A100 neither measures"));
  EXPECT_EQ(device->counts().runs, 0);
}

TEST(BenchOnAFake, InstrumentsAreNotAskedForWhereTimesAreMeasured) {
  FakeScript script = scripted_kernels();
  script.instrumented = false;
  const auto device = fake_device(std::move(script));
  bench(*device, scripted_add("takes(N);"));
  for (const RunRequest& request : device->requests()) {
    EXPECT_TRUE(request.instruments.profile.empty());
    EXPECT_FALSE(request.instruments.sanitize);
    EXPECT_FALSE(request.tensors.at(2).written_region);
  }
}

} // namespace
} // namespace kernevo
