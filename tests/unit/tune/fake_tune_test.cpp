// The tuner over a kernel on a scripted device.
#include "kernevo/task/load_task.h"
#include "kernevo/tune/kernel_objective.h"
#include "kernevo/tune/tuner.h"
#include "kernevo/tune/tuning_subject.h"
#include "scripted_kernels.h"
#include "test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::tune {
namespace {

using search::Outcome;
using search::Trial;
using testing::HasSubstr;

// Best at THREADS = 256, STEP = 4: 2000 ns at 4096 elements.
const std::string kTune = "// @tune THREADS 64 128 256 512 1024\n// @tune STEP 1 2 4 8\n";
const std::string kBowl = "takes(2000 + N / 4096 * (max(THREADS, 256) - min(THREADS, 256))"
                          " + 300 * (max(STEP, 4) - min(STEP, 4)));";

class TuneOnAFake : public testing::Test {
protected:
  struct Tuned {
    TuningSubject subject;
    TuningResult result;
    std::size_t same_code = 0;

    ParameterValues best() const {
      return result.best ? subject.space.values(result.best->configuration) : ParameterValues{};
    }
    const Trial* trial(const ParameterValues& values) const {
      const auto wanted = subject.space.find(values);
      for (const Trial& one : result.trials)
        if (wanted && one.configuration == *wanted)
          return &one;
      return nullptr;
    }
  };

  // Every configuration there is, unless `evaluations` says fewer.
  Tuned tune_kernel(FakeDevice& device, const std::string& statements,
                    std::optional<std::size_t> evaluations = {}) const {
    const std::string file = folder_.write("task.yaml", scripted_task("[[4096], [8192]]"));
    const Task task = load_task(file).value().task;
    const KernelFile kernel = kernel_of(scripted_add(statements, kTune));
    auto subject = prepare_subject(task, kernel, device);
    EXPECT_TRUE(subject) << format_error(subject.error());
    KernelObjective objective(device, task, kernel, {}, 1);
    TunerOptions options;
    options.evaluations = evaluations;
    options.jobs = 2;
    if (subject->defaults)
      options.search.seeds = {*subject->defaults};
    Tuned tuned{*subject, {}, 0};
    auto result = tune(tuned.subject.space, objective, nullptr, options);
    EXPECT_TRUE(result) << format_error(result.error());
    tuned.result = std::move(result).value();
    tuned.same_code = objective.same_code();
    return tuned;
  }

  const TestFolder folder_;
};

const ParameterValues kBest = {{"THREADS", 256}, {"STEP", 4}};

TEST_F(TuneOnAFake, FindsTheScriptedBest) {
  const auto device = fake_device();
  const Tuned tuned = tune_kernel(*device, kBowl);
  EXPECT_EQ(tuned.result.trials.size(), 20U);
  EXPECT_EQ(tuned.best(), kBest);
  ASSERT_TRUE(tuned.result.best);
  EXPECT_TRUE(tuned.result.best->checked);
  EXPECT_DOUBLE_EQ(tuned.result.best->time->value, 2000);
  EXPECT_TRUE(tuned.result.best->counters.empty()) << "nothing was counted, only timed";
  EXPECT_EQ(tuned.subject.device.name, "fake:A100");
  EXPECT_EQ(tuned.subject.device.method, TimingMethod::measured);
}

TEST_F(TuneOnAFake, FindsItUnderNoiseWithAFewTriesLess) {
  for (const char* noise : {"gaussian_1", "lognormal_tail", "slow_start"}) {
    const Tuned tuned = tune_kernel(*noisy_device(noise), kBowl, 18);
    EXPECT_EQ(tuned.result.trials.size(), 18U);
    ASSERT_TRUE(tuned.result.best);
    EXPECT_NEAR(tuned.result.best->time->value, 2000, 400) << noise;
  }
}

TEST_F(TuneOnAFake, AWrongConfigurationIsNeverTheBest) {
  const Tuned tuned =
      tune_kernel(*fake_device(), kBowl + "wrong(THREADS == 256 && STEP == 4 && N == 8192);");
  const Trial* wrong = tuned.trial(kBest);
  ASSERT_NE(wrong, nullptr);
  EXPECT_EQ(wrong->outcome, Outcome::wrong);
  EXPECT_THAT(wrong->reason, HasSubstr("correctness_mismatch"));
  ASSERT_TRUE(tuned.result.best);
  EXPECT_NE(tuned.best(), kBest);
  EXPECT_EQ(tuned.result.best->outcome, Outcome::ok);
  EXPECT_GT(tuned.result.best->time->value, 2000);
}

TEST_F(TuneOnAFake, WhatFailsSaysHow) {
  const Tuned tuned = tune_kernel(*fake_device(), kBowl + "refuses(THREADS == 1024);"
                                                          "faults(STEP == 8 && THREADS < 1024);");
  EXPECT_EQ(tuned.best(), kBest);
  const Trial* refused = tuned.trial({{"THREADS", 1024}, {"STEP", 1}});
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->outcome, Outcome::compile);
  const Trial* faulty = tuned.trial({{"THREADS", 64}, {"STEP", 8}});
  ASSERT_NE(faulty, nullptr);
  EXPECT_EQ(faulty->outcome, Outcome::run);
  EXPECT_THAT(faulty->reason, HasSubstr("beyond the end"));
}

TEST_F(TuneOnAFake, NothingThatIsRightIsNoBest) {
  const Tuned tuned = tune_kernel(*fake_device(), kBowl + "wrong(THREADS > 0);");
  EXPECT_FALSE(tuned.result.best);
  for (const Trial& trial : tuned.result.trials)
    EXPECT_NE(trial.outcome, Outcome::compile);
}

TEST_F(TuneOnAFake, AClearlySlowerOneIsGivenUpAfterItsFirstShape) {
  const Tuned tuned = tune_kernel(*fake_device(), kBowl);
  std::size_t partial = 0;
  for (const Trial& trial : tuned.result.trials)
    partial += trial.partial ? 1 : 0;
  EXPECT_GT(partial, 0U);
  EXPECT_FALSE(tuned.result.best->partial);
}

} // namespace
} // namespace kernevo::tune
