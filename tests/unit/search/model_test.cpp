#include "fixture.h"
#include "kernevo/search/counter_model.h"
#include "kernevo/search/features.h"
#include "kernevo/search/gaussian_process.h"
#include "kernevo/search/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::search {
namespace {

struct Data {
  std::vector<Configuration> points;
  std::vector<double> targets;
};

Data sample(const RecordedSpace& recorded, std::size_t count, std::uint64_t seed) {
  Data data;
  RandomStream random(seed);
  while (data.points.size() < count) {
    const Trial& trial = recorded.trials[random.below(recorded.trials.size())];
    if (!trial.time)
      continue;
    data.points.push_back(trial.configuration);
    data.targets.push_back(std::log(trial.time->value));
  }
  return data;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values)
    sum += value / static_cast<double>(values.size());
  return sum;
}

// The share of the variance that a model explains.
double explained(const std::vector<double>& truth, const std::vector<double>& guess) {
  const double mean = mean_of(truth);
  double total = 0;
  double left = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    total += (truth[i] - mean) * (truth[i] - mean);
    left += (truth[i] - guess[i]) * (truth[i] - guess[i]);
  }
  return 1 - left / total;
}

TEST(GaussianProcess, PassesThroughItsDataAndKnowsWhereItIsUnsure) {
  const RecordedSpace recorded = made_up_space();
  const Data data = sample(recorded, 60, 1);
  GaussianProcess process(recorded.space);
  RandomStream random(2);
  process.fit(data.points, data.targets, 60, random);
  const auto at_data = process.predict(data.points);
  const Data other = sample(recorded, 200, 3);
  const auto elsewhere = process.predict(other.points);
  double at = 0;
  double away = 0;
  std::vector<double> guess;
  for (std::size_t i = 0; i < data.points.size(); ++i) {
    EXPECT_NEAR(at_data[i].mean, data.targets[i], 0.1);
    at += at_data[i].variance / 60;
  }
  for (const Estimate& estimate : elsewhere) {
    away += estimate.variance / 200;
    guess.push_back(estimate.mean);
  }
  EXPECT_GT(away, 3 * at);
  EXPECT_GT(explained(other.targets, guess), 0.6);
  // The errors are of the size it says.
  double normalised = 0;
  for (std::size_t i = 0; i < guess.size(); ++i)
    normalised += std::pow(guess[i] - other.targets[i], 2) / (elsewhere[i].variance + 1e-3) / 200;
  EXPECT_LT(normalised, 4);
}

TEST(GaussianProcess, IsSurerNearItsDataThanBetween) {
  // With the same target everywhere the mean is that target and the variance is smallest at data.
  SpaceDescription description;
  description.parameters = {{"A", {1, 2, 4, 8, 16, 32}}};
  const auto space = *SearchSpace::construct(description);
  GaussianProcess process(space);
  RandomStream random(1);
  const std::vector<Configuration> points = {0, 5};
  const std::vector<double> targets = {3, 3};
  process.fit(points, targets, 0, random);
  const std::vector<Configuration> all = {0, 1, 2, 3, 4, 5};
  const auto estimates = process.predict(all);
  for (const Estimate& estimate : estimates)
    EXPECT_NEAR(estimate.mean, 3, 1e-6);
  EXPECT_LT(estimates[0].variance, estimates[1].variance);
  EXPECT_LT(estimates[1].variance, estimates[2].variance);
  EXPECT_LT(estimates[5].variance, estimates[4].variance);
}

TEST(ExtraTrees, LearnsItsDataAndGuessesBetween) {
  const RecordedSpace recorded = made_up_space();
  const Features features(recorded.space);
  auto rows = [&](const Data& data) {
    std::vector<float> samples(data.points.size() * features.count());
    for (std::size_t i = 0; i < data.points.size(); ++i)
      features.write(data.points[i],
                     std::span(samples).subspan(i * features.count(), features.count()));
    return samples;
  };
  const Data data = sample(recorded, 150, 5);
  const std::vector<float> samples = rows(data);
  ExtraTrees forest({.trees = 30, .tried_features = 0.5});
  EXPECT_TRUE(forest.empty());
  RandomStream random(6);
  forest.fit(samples, features.count(), data.targets, 30, random);
  for (std::size_t i = 0; i < data.points.size(); ++i) {
    const Estimate estimate =
        forest.predict(std::span(samples).subspan(i * features.count(), features.count()));
    // Not exactly: a tree may try only features in which its last two samples agree.
    EXPECT_NEAR(estimate.mean, data.targets[i], 0.05);
    EXPECT_LT(estimate.variance, 0.02);
  }
  const Data other = sample(recorded, 300, 7);
  const std::vector<float> unseen = rows(other);
  std::vector<double> guess;
  for (std::size_t i = 0; i < other.points.size(); ++i)
    guess.push_back(
        forest.predict(std::span(unseen).subspan(i * features.count(), features.count())).mean);
  EXPECT_GT(explained(other.targets, guess), 0.6);
}

TEST(Features, SayHowFarAValueIsAligned) {
  EXPECT_EQ(alignment_of(96), 5);
  EXPECT_EQ(alignment_of(112), 4);
  EXPECT_EQ(alignment_of(1), 0);
  EXPECT_EQ(alignment_of(1024), 6);
}

TEST(CounterModel, TakesCountersThatGoWithTheTimeAndGuessesThem) {
  const RecordedSpace recorded = made_up_space();
  const Features features(recorded.space);
  std::vector<Trial> trials;
  const Data data = sample(recorded, 60, 8);
  RandomStream noise(9);
  for (const Configuration c : data.points) {
    trials.push_back(recorded.trials[c]);
    const double time = trials.back().time->value;
    trials.back().counters = {{"bytes", 10 * time}, {"bytes_again", 20 * time}, {"constant", 5}};
    trials.back().counters["noise"] = noise.uniform();
  }
  std::vector<const Trial*> pointers;
  std::vector<float> samples(trials.size() * features.count());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    pointers.push_back(&trials[i]);
    features.write(trials[i].configuration,
                   std::span(samples).subspan(i * features.count(), features.count()));
  }
  CounterModel model;
  RandomStream random(10);
  model.fit(pointers, samples, features.count(), random);
  ASSERT_GE(model.count(), 1U);
  EXPECT_EQ(model.names()[0], "bytes");
  EXPECT_THAT(model.names(), testing::Not(testing::Contains("constant")));
  EXPECT_THAT(model.names(), testing::Not(testing::Contains("bytes_again")));
  std::vector<float> guess(model.count());
  model.write(std::span<const float>(samples).first(features.count()), guess);
  EXPECT_NEAR(guess[0], std::log1p(10 * trials[0].time->value), 0.05);
}

// A counter that says at once what the time says only through many parameters must not hurt, and
// is taken where it is given.
TEST(CounterModel, ASearchWithCountersIsDeterministicAndAsGood) {
  RecordedSpace recorded = made_up_space();
  SearchOptions options;
  double without = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    options.seed = seed;
    without += replay(recorded, options, 40)->fraction.back() / 8;
  }
  for (Trial& trial : recorded.trials)
    if (trial.time)
      trial.counters = {{"bytes", trial.time->value * 3}, {"one", 1}};
  double with = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    options.seed = seed;
    const auto result = replay(recorded, options, 40);
    EXPECT_EQ(result->order, replay(recorded, options, 40)->order);
    with += result->fraction.back() / 8;
  }
  EXPECT_GT(with, without - 0.03);
}

} // namespace
} // namespace kernevo::search
