#include "kernevo/model/run_event.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

void expect_same(const RunEvent& event) {
  const std::string text = to_json(event);
  const auto read = event_from_json(kind_of(event), text);
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_TRUE(*read == event) << text;
  EXPECT_EQ(to_json(*read), text);
}

TEST(RunEvent, OlderRunsDoNotSayOnWhichDevice) {
  std::string text = to_json(RunEvent(RunStarted{}));
  const std::string device = R"("device":"",)";
  ASSERT_NE(text.find(device), std::string::npos) << text;
  const auto read = event_from_json("run_started", text.erase(text.find(device), device.size()));
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_TRUE(*read == RunEvent(RunStarted{}));
}

TEST(RunEvent, EveryKindComesBackAsItWas) {
  RunStarted started;
  started.run = "a \"quoted\" name\n";
  started.device = "cuda:0";
  started.settings.search = SearchKind::best_of_n;
  started.settings.seed = ~std::uint64_t{0};
  started.settings.budget = {1, 2, 0.1, 3, 4.5};
  started.settings.target_ns = 1e-3;
  started.estimate = WorkEstimate{{{"4096x8", 1.5e9, 6.4e7, 6.1e7, 128, 120}}, 41.5, 40.25, 39.75};
  expect_same(started);
  expect_same(RunStarted{});
  Directive d;
  d.step = 7;
  d.mode = SearchMode::recombine;
  d.parent = 3;
  d.mate = 5;
  d.reasons = {{"share.dram", 0.1 + 0.2, 1.0 / 3}, {"tries", 2, std::nullopt}};
  d.incumbent = 3;
  d.incumbent_ns = 1234.5678901234567;
  expect_same(d);
  expect_same(Directive{});
  Candidate c;
  c.parents = {1, 2};
  c.genes = {"a", "b", "a"};
  c.cost = {10, 0.001};
  expect_same(c);
  expect_same(Candidate{});
  for (int i = 0; i <= static_cast<int>(StepOutcome::infrastructure); ++i) {
    Evaluation e;
    e.outcome = static_cast<StepOutcome>(i);
    e.fault = FaultKind::memory_safety_error;
    e.duplicate_of = 3;
    e.objective = Nanoseconds{0.1};
    e.shapes = {{"64x64", Nanoseconds{1}, Nanoseconds{0.5}, Nanoseconds{2}}};
    e.parameters = {{"T", -1}};
    e.facts = KernelFacts{2, "shared", 16, true, 64, 0.5, "registers"};
    e.roofline = 0.9;
    expect_same(e);
  }
  expect_same(Evaluation{});
  expect_same(Restarted{4, 1, "poor", {{"speedup", 1.0, 1.1}}});
  expect_same(Migrated{9});
  for (int i = 0; i <= static_cast<int>(StopReason::trouble); ++i)
    expect_same(RunStopped{static_cast<StopReason>(i), "text"});
  expect_same(RunResumed{3, {}});
}

TEST(RunEvent, WhatIsNoneIsAnError) {
  EXPECT_FALSE(event_from_json("no_such_kind", "{}"));
  EXPECT_FALSE(event_from_json("directive", "{}"));
  EXPECT_FALSE(event_from_json("directive", "hello"));
  EXPECT_FALSE(event_from_json("evaluation", "[]"));
  EXPECT_FALSE(event_from_json("run_stopped", R"({"reason":"no reason","text":""})"));
}

} // namespace
} // namespace kernevo
