#include "kernevo/report/page.h"

#include "sample_run.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kOpen = R"(<script type="application/json" id="data">)";

std::string page_of(SampleRun& run, const PageLimits& limits = {}) {
  const auto story = read_story(run.journal());
  EXPECT_TRUE(story) << format_error(story.error());
  const auto page = make_page(*story, run.journal(), 1763400000000, limits);
  EXPECT_TRUE(page) << format_error(page.error());
  return *page;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// As a browser finds it: up to the first end of a script.
std::string data_text(const std::string& page) {
  const std::size_t begin = page.find(kOpen) + kOpen.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

json data_of(SampleRun& run, const PageLimits& limits = {}) {
  return json::parse(data_text(page_of(run, limits)));
}

TEST(ReportPage, TellsBeforeAfterAndWhy) {
  SampleRun run("page");
  const Step better = run.candidate(0, StepOutcome::improved, 50.0, "one\ntwo\n");
  const Step tuned = run.tune(better, StepOutcome::improved, 40.0);
  run.stop();
  const json data = data_of(run);
  EXPECT_EQ(data["run"]["provenance"], "modelled on virtual A100");
  EXPECT_EQ(data["run"]["stop"]["text"], "16 steps without a gain");
  EXPECT_EQ(data["result"]["before_ns"], 100e3);
  EXPECT_EQ(data["result"]["after_ns"], 40e3);
  EXPECT_EQ(data["result"]["speedup"], 2.5);
  EXPECT_EQ(data["result"]["candidate"], better);
  EXPECT_EQ(data["result"]["step"], tuned);
  EXPECT_EQ(data["bests"].size(), 3U);
  EXPECT_EQ(data["bests"][1]["tags"][0], json::array({"dram_bound", 0.8}));
  EXPECT_EQ(data["sources"][data["steps"][1]["source"].get<int>()], "one\ntwo\n");
  EXPECT_EQ(data["after_shapes"][0]["ns"], 40e3);
  EXPECT_EQ(data["cost"]["dollars"], 0);
}

TEST(ReportPage, TellsTheWholeChainOfAStep) {
  SampleRun run("chain");
  const Step step = run.candidate(0, StepOutcome::improved, 50.0);
  const json data = data_of(run);
  const json& detail = data["steps"][step]["detail"];
  EXPECT_EQ(detail["reasons"][0]["metric"], "share.dram");
  EXPECT_EQ(detail["reasons"][0]["threshold"], 0.6);
  EXPECT_EQ(detail["why"]["message"], "DRAM is busy.");
  EXPECT_EQ(detail["why"]["condition"], "share.dram > 0.6");
  EXPECT_EQ(detail["why"]["comparisons"].at(0)["holds"], true);
  EXPECT_EQ(detail["why"]["direction"], "Keep it on the chip.");
  EXPECT_EQ(detail["findings"].at(0)["evidence"][0]["metric"], "share.dram");
}

TEST(ReportPage, TellsOfAttemptsAndModelCalls) {
  SampleRun run("calls");
  const Step step = run.open(0);
  ModelCall call;
  call.step = step;
  call.id = "code.0";
  call.stage = "code";
  call.model = "some-model";
  call.usage.prompt = 700;
  call.usage.completion = 300;
  call.seconds = 2;
  run.append(call);
  Attempt attempt;
  attempt.step = step;
  attempt.title = "first try";
  attempt.diagnosis = {FaultKind::syntax_error, Rung::compile, false, "no such name", {"line 3"}};
  run.append(attempt);
  call.step = 0; // tried out when the run went on
  call.id = "probe.0";
  call.stage = "probe";
  run.append(call);
  const json data = data_of(run);
  const json& detail = data["steps"][step]["detail"];
  ASSERT_EQ(detail["calls"].size(), 1U);
  EXPECT_EQ(detail["calls"][0]["model"], "some-model");
  EXPECT_EQ(detail["calls"][0]["tokens"], 1000);
  EXPECT_TRUE(detail["calls"][0]["dollars"].is_null());
  ASSERT_EQ(detail["attempts"].size(), 1U);
  EXPECT_EQ(detail["attempts"][0]["fault"], name_of(FaultKind::syntax_error));
  EXPECT_EQ(detail["attempts"][0]["summary"], "no such name");
  EXPECT_FALSE(data["steps"][0]["detail"].contains("calls"));
  EXPECT_EQ(data["cost"]["attempts"], 1);
  EXPECT_EQ(data["cost"]["by_stage"]["code"]["calls"], 1);
  EXPECT_EQ(data["cost"]["by_model"]["some-model"]["calls"], 2);
}

TEST(ReportPage, HasTheWorkOfTheTask) {
  SampleRun run("work");
  const json data = data_of(run);
  EXPECT_EQ(data["work"]["shapes"][0]["bytes"], 2 * 4 * 512 * 1024);
  EXPECT_EQ(data["work"]["shapes"][0]["flops"], 512 * 1024); // as the catalogue counts it
  EXPECT_EQ(data["work"]["dram_rate"], 1555e9);
  EXPECT_EQ(data["work"]["peak_rate"], 19.5e12);
}

TEST(ReportPage, NeedsNothingElse) {
  SampleRun run("alone");
  const std::string page = page_of(run);
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  for (const char* sign : {"<link", " src=", "@import", "url(", "fetch(", "XMLHttpRequest"})
    EXPECT_THAT(page, Not(HasSubstr(sign)));
  // The one address is the name of a vocabulary.
  EXPECT_EQ(count_of(page, "http"),
            count_of(page, "http://www.w3.org/2000/svg") + count_of(page, "http-equiv"));
  EXPECT_THAT(page, Not(HasSubstr("innerHTML")));
  EXPECT_THAT(page, Not(HasSubstr("outerHTML")));
  EXPECT_THAT(page, Not(HasSubstr("document.write")));
}

TEST(ReportPage, HostileTextStaysText) {
  const std::string hostile =
      "</script><script>alert(1)</script><!-- {{script}} {{data}} <img src=x onerror=alert(1)> "
      "\xff\xfe & \" ' \xe2\x80\xa8";
  SampleRun run("<b>&\"run");
  const std::string plain = page_of(run);
  run.candidate(0, StepOutcome::improved, 50.0, hostile, hostile);
  const std::string page = page_of(run);
  EXPECT_EQ(count_of(page, "<script"), count_of(plain, "<script"));
  EXPECT_EQ(count_of(page, "</script"), count_of(plain, "</script"));
  EXPECT_EQ(count_of(page, "<!--"), count_of(plain, "<!--"));
  EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt;&amp;&quot;run - kernevo</title>"));
  EXPECT_THAT(data_text(page), Not(HasSubstr("<")));
  const json data = json::parse(data_text(page));
  EXPECT_THAT(data["sources"][1].get<std::string>(),
              HasSubstr("</script><script>alert(1)</script><!-- {{script}} {{data}} <img"));
}

TEST(ReportPage, ARunWithoutABaselineIsTold) {
  SampleRun run("empty", false);
  const std::string page = page_of(run);
  EXPECT_THAT(page, HasSubstr("No baseline yet."));
  const json data = json::parse(data_text(page));
  EXPECT_TRUE(data["result"].is_null());
  EXPECT_TRUE(data["steps"].empty());
}

TEST(ReportPage, ARunUnderWayHasNoStop) {
  SampleRun run("under_way");
  const Step open = run.open(0);
  const json data = data_of(run);
  EXPECT_TRUE(data["run"]["stop"].is_null());
  EXPECT_EQ(data["cost"]["under_way"], 1);
  EXPECT_TRUE(data["steps"][open]["outcome"].is_null());
  EXPECT_EQ(data["result"]["candidate"], 0); // no improvement yet
}

TEST(ReportPage, WhatTheBaselineMetIsTold) {
  SampleRun run("met");
  EXPECT_FALSE(data_of(run)["result"]["met_by_baseline"].get<bool>());
  run.append(RunStopped{StopReason::target, "the baseline itself takes 5 us"});
  EXPECT_TRUE(data_of(run)["result"]["met_by_baseline"].get<bool>());
}

TEST(ReportPage, UnknownCostIsUnknown) {
  SampleRun run("cost");
  run.candidate(0, StepOutcome::improved, 50.0, "", "", 500); // tokens whose price nobody told
  const json data = data_of(run);
  EXPECT_EQ(data["cost"]["tokens"], 500);
  EXPECT_TRUE(data["cost"]["dollars"].is_null());
}

TEST(ReportPage, ALongRunIsThinnedOutAndSaysSo) {
  SampleRun run("long");
  for (int i = 0; i < 300; ++i)
    run.candidate(0, StepOutcome::not_better, 120.0);
  const Step best = run.candidate(150, StepOutcome::improved, 50.0);
  PageLimits limits;
  limits.steps = 40;
  limits.detail_bytes = 4000;
  limits.source_bytes = 100;
  const json data = data_of(run, limits);
  EXPECT_EQ(data["steps"].size(), 40U);
  EXPECT_EQ(data["limits"]["steps_total"], 302);
  EXPECT_EQ(data["limits"]["steps_shown"], 40);
  EXPECT_GT(data["limits"]["details_left_out"], 30);
  EXPECT_GT(data["limits"]["sources_left_out"], 20);
  std::vector<Step> shown;
  for (const json& step : data["steps"]) {
    shown.push_back(step["step"]);
    if (step["step"] == best) {
      EXPECT_TRUE(step.contains("detail"));
      EXPECT_TRUE(step.contains("source"));
    }
  }
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  EXPECT_THAT(shown, testing::IsSupersetOf({Step{0}, Step{150}, best}));
}

} // namespace
} // namespace kernevo::report
