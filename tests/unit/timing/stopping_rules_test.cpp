#include "kernevo/timing/stopping_rule.h"

#include "simulated_shots.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace kernevo {
namespace {

// Samples until the rule is content, at most `limit`.
int samples_until(const std::string& rule, const RuleParameters& parameters,
                  const std::string& noise, int limit = 20000) {
  auto made = make_stopping_rule(rule, parameters);
  EXPECT_TRUE(made);
  const Noise next = noise_model(noise).start(7);
  for (int count = 1; count <= limit; ++count) {
    (*made)->add(1e5 * std::exp(next().log_factor));
    if ((*made)->finished())
      return count;
  }
  return limit;
}

TEST(StoppingRules, AreFoundByName) {
  std::set<std::string> names;
  for (const RuleInfo& rule : stopping_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second);
    EXPECT_TRUE(make_stopping_rule(rule.name)) << rule.name;
    for (const RuleParameter& parameter : rule.parameters) {
      EXPECT_LE(parameter.least, parameter.value) << parameter.name;
      EXPECT_GE(parameter.most, parameter.value) << parameter.name;
      EXPECT_FALSE(make_stopping_rule(rule.name, {{parameter.name, NAN}})) << parameter.name;
    }
  }
  EXPECT_EQ(stopping_rules().front().name, "median_interval");
}

TEST(StoppingRules, ErrorsNameTheFix) {
  const auto unknown = make_stopping_rule("entropi");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(format_error(unknown.error()),
            "there is no stopping rule 'entropi' (did you mean 'entropy'?); it is one of "
            "median_interval, bootstrap, relative_noise, entropy, sample_count");
  const auto parameter = make_stopping_rule("bootstrap", {{"widht", 1}});
  ASSERT_FALSE(parameter);
  EXPECT_NE(parameter.error().message.find("did you mean 'width'?"), std::string::npos);
  const auto range = make_stopping_rule("sample_count", {{"samples", 0}});
  ASSERT_FALSE(range);
  EXPECT_NE(range.error().message.find("it must be 1 to"), std::string::npos);
}

TEST(StoppingRules, SampleCountCounts) {
  EXPECT_EQ(samples_until("sample_count", {{"samples", 37}}, "gaussian_1"), 37);
}

TEST(StoppingRules, IntervalRulesStopWhenTheMedianIsKnown) {
  // Half-width 1.96 x 1.2533 sigma / sqrt(n): 24 samples for 1 % noise, 603 for 5 %.
  for (const std::string rule : {"median_interval", "bootstrap"}) {
    const int quiet = samples_until(rule, {}, "gaussian_1");
    const int loud = samples_until(rule, {}, "gaussian_5");
    EXPECT_GE(quiet, 6) << rule;
    EXPECT_LE(quiet, 60) << rule;
    EXPECT_GE(loud, 300) << rule;
    EXPECT_LE(loud, 1200) << rule;
  }
}

TEST(StoppingRules, IntervalRulesDemandMoreOfDependentSamples) {
  for (const std::string rule : {"median_interval", "bootstrap"})
    EXPECT_GT(samples_until(rule, {}, "ar1_0.9"), 2 * samples_until(rule, {}, "gaussian_5"))
        << rule;
}

TEST(StoppingRules, RelativeNoiseStopsWhenSmallOrStable) {
  EXPECT_LE(samples_until("relative_noise", {{"noise", 0.02}}, "gaussian_1"), 20);
  // 5 % never becomes 0.5 %, but the estimate settles.
  const int settled = samples_until("relative_noise", {}, "gaussian_5");
  EXPECT_GE(settled, 74);
  EXPECT_LE(settled, 2000);
}

TEST(StoppingRules, EntropyStopsOnceNothingNewIsSeen) {
  const int quiet = samples_until("entropy", {}, "gaussian_1");
  EXPECT_GE(quiet, 64);
  EXPECT_LE(quiet, 5000);
  EXPECT_GT(samples_until("entropy", {}, "linear_drift"), quiet);
}

TEST(StoppingRules, AreDeterministic) {
  for (const RuleInfo& rule : stopping_rules())
    EXPECT_EQ(samples_until(rule.name, {}, "skewed"), samples_until(rule.name, {}, "skewed"));
}

} // namespace
} // namespace kernevo
