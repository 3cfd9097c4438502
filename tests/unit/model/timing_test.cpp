#include "kernevo/model/timing.h"

#include "kernevo/model/comparison.h"
#include "kernevo/model/json.h"

#include <gtest/gtest.h>
#include <limits>

namespace kernevo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Timing measured() {
  Timing timing;
  timing.samples = {{10}, {11}, {12.5}};
  timing.median = {11};
  timing.interval = {{10}, {12.5}, 0.75};
  timing.quality = {TimingGrade::noisy, "median known to 11 %", 0.13, 1, 4, 1, 2};
  timing.receipt.device = "cuda:0 NVIDIA A100";
  timing.receipt.clocks = Clocks{1410.0, std::nullopt, true};
  timing.receipt.driver = "570.86";
  timing.receipt.seed = 18446744073709551615U;
  timing.receipt.shapes = "M=4096 N=4096";
  timing.receipt.cache = CacheState::cold;
  timing.receipt.tools = {{"NVRTC", "13.2"}, {"kernevo", "0.1.0"}};
  timing.receipt.episode = "e1";
  return timing;
}

Timing modelled() {
  Timing timing;
  timing.method = TimingMethod::modelled;
  timing.terms = {{"dram", {8000}}, {"launch", {0}}};
  timing.median = {8000};
  timing.interval = {{7000}, {9200}, 0.8};
  timing.receipt.device = "virtual:A100";
  return timing;
}

Comparison faster() {
  return {Standing::faster, TimingMethod::measured, SpeedRatio{1.02, 1.01, 1.03, 0.99}, 27, "why"};
}

std::string message(Timing timing) {
  const auto made = make_timing(std::move(timing));
  return made ? "" : made.error().message;
}

std::string message(Comparison comparison) {
  const auto made = make_comparison(std::move(comparison));
  return made ? "" : made.error().message;
}

TEST(Timing, AcceptsWhatMakesSense) {
  EXPECT_EQ(message(measured()), "");
  EXPECT_EQ(message(modelled()), "");
}

TEST(Timing, NeverMixesMeasuredAndModelled) {
  Timing timing = measured();
  timing.terms = {{"dram", {1}}};
  EXPECT_NE(message(timing).find("never mixed"), std::string::npos);
  timing = modelled();
  timing.samples = {{8000}};
  EXPECT_NE(message(timing).find("never mixed"), std::string::npos);
  timing = measured();
  timing.quality.grade = TimingGrade::extrapolated;
  EXPECT_NE(message(timing), "");
}

TEST(Timing, RefusesWhatCannotBe) {
  const auto broken = [](auto change) {
    Timing timing = measured();
    change(timing);
    return message(timing);
  };
  EXPECT_EQ(broken([](Timing& t) { t.samples[1] = {-1}; }),
            "timing record: sample 2 is -1 ns; a time is positive and finite");
  EXPECT_NE(broken([](Timing& t) { t.samples[0] = {kInfinity}; }), "");
  EXPECT_NE(broken([](Timing& t) { t.samples.clear(); }), "");
  EXPECT_NE(broken([](Timing& t) { t.median = {13}; }), "");
  EXPECT_NE(broken([](Timing& t) { t.interval.low = {11.5}; }), "");
  EXPECT_NE(broken([](Timing& t) { t.interval.high = {kInfinity}; }), "");
  EXPECT_NE(broken([](Timing& t) { t.interval.confidence = 1; }), "");
  EXPECT_NE(broken([](Timing& t) { t.quality.relative_noise = -0.1; }), "");
  EXPECT_NE(broken([](Timing& t) { t.quality.reason = "two\nlines"; }), "");
  EXPECT_NE(broken([](Timing& t) { t.receipt.device.clear(); }), "");
  Timing model = modelled();
  model.terms.clear();
  EXPECT_NE(message(model), "");
  model = modelled();
  model.terms[0].time = {-1};
  EXPECT_NE(message(model), "");
}

TEST(Timing, SurvivesJson) {
  for (const Timing& timing : {measured(), modelled()}) {
    const std::string text = to_json(timing);
    const auto read = timing_from_json(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), text);
  }
  EXPECT_EQ(timing_from_json(to_json(measured()))->receipt.seed, 18446744073709551615U);
}

TEST(Timing, JsonIsStrict) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = to_json(measured());
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return timing_from_json(text.replace(at, from.size(), to));
  };
  EXPECT_TRUE(changed("\"noisy\"", "\"good\""));
  EXPECT_FALSE(changed("\"noisy\"", "\"excellent\""));
  EXPECT_FALSE(changed("\"median_ns\"", "\"mean_ns\""));
  EXPECT_FALSE(changed("\"driver\"", "\"drivers\""));
  EXPECT_FALSE(changed("\"far_out\":1", "\"far_out\":-1"));
  EXPECT_FALSE(changed("\"method\":\"measured\"", "\"method\":\"modelled\""));
  EXPECT_FALSE(changed("[10.0,", "[-10.0,"));
  EXPECT_FALSE(timing_from_json("{"));
  EXPECT_FALSE(timing_from_json("[]"));
}

TEST(Comparison, AVerdictAgreesWithItsInterval) {
  EXPECT_EQ(message(faster()), "");
  const auto broken = [](auto change) {
    Comparison comparison = faster();
    change(comparison);
    return message(comparison);
  };
  EXPECT_NE(broken([](Comparison& c) { c.ratio->low = 0.99; }), "");
  EXPECT_NE(broken([](Comparison& c) { c.standing = Standing::slower; }), "");
  EXPECT_NE(broken([](Comparison& c) { c.ratio.reset(); }), "");
  EXPECT_NE(broken([](Comparison& c) { c.method.reset(); }), "");
  EXPECT_NE(broken([](Comparison& c) { c.reason.clear(); }), "");
  EXPECT_NE(broken([](Comparison& c) { c.ratio->estimate = 1.5; }), "");
  EXPECT_NE(broken([](Comparison& c) { c.ratio->high = kInfinity; }), "");
  EXPECT_NE(broken([](Comparison& c) { c.ratio->confidence = 1; }), "");
  EXPECT_NE(broken([](Comparison& c) { c.standing = Standing::not_comparable; }), "");
  EXPECT_EQ(broken([](Comparison& c) {
              c.standing = Standing::ambiguous;
              c.ratio.reset();
            }),
            "");
}

TEST(Comparison, OnlyFasterReplacesTheIncumbent) {
  for (int i = 0; i <= static_cast<int>(Standing::not_comparable); ++i) {
    Comparison comparison = faster();
    comparison.standing = static_cast<Standing>(i);
    EXPECT_EQ(replaces_incumbent(comparison), comparison.standing == Standing::faster);
  }
}

TEST(Comparison, SurvivesStrictJson) {
  const Comparison no{Standing::not_comparable, std::nullopt, std::nullopt, 0, "other devices"};
  for (const Comparison& comparison : {faster(), no}) {
    const std::string text = to_json(comparison);
    const auto read = comparison_from_json(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), text);
  }
  std::string text = to_json(faster());
  EXPECT_FALSE(comparison_from_json(text.replace(text.find("1.01"), 4, "0.90")));
  EXPECT_FALSE(comparison_from_json(R"({"standing":"best"})"));
}

} // namespace
} // namespace kernevo
