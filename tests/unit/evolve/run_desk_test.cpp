// Caps that hold, and books that count once.
#include "kernevo/evolve/run_desk.h"

#include <future>
#include <gtest/gtest.h>
#include <thread>

namespace kernevo::evolve {
namespace {

class NoMemory : public store::Memo {
public:
  Result<std::optional<std::string>> recall(const std::string&) override { return std::nullopt; }
  Result<void> remember(const std::string&, std::string_view) override { return {}; }
};

ModelCall call_of(Step step, std::uint64_t tokens, std::optional<double> dollars = std::nullopt) {
  ModelCall call;
  call.step = step;
  call.id = "code.0";
  call.usage.prompt = tokens;
  call.dollars = dollars;
  return call;
}

struct DeskTest : testing::Test {
  void begin(const RunBudget& budget, std::uint64_t tokens = 0) {
    RunDesk::Spent spent;
    spent.usage.prompt = tokens;
    desk.begin(budget, spent, {});
  }
  NoMemory memory;
  std::atomic<bool> cancelled = false;
  RunDesk desk{memory, cancelled};
};

TEST_F(DeskTest, ATokenCapShrinksTheLastReplyAndThenRefuses) {
  RunBudget budget;
  budget.tokens = 10'000;
  begin(budget, 4'000);
  EXPECT_EQ(desk.reserve(1, "code.0", 2'000, 8'000, std::nullopt), 4'000U);
  desk.account(call_of(1, 5'500));
  EXPECT_FALSE(desk.reserve(2, "code.0", 400, 8'000, std::nullopt));
  EXPECT_EQ(desk.refusal(), StopReason::tokens);
}

TEST_F(DeskTest, ADollarCapUsesThePrice) {
  RunBudget budget;
  budget.dollars = 0.01;
  begin(budget);
  const ModelPrice price{1, 4, std::nullopt}; // for a million
  // 2,000 tokens in cost 0.002; 0.008 are left for the reply.
  EXPECT_EQ(desk.reserve(1, "code.0", 2'000, 100'000, price), 2'000U);
  desk.account(call_of(1, 4'000, 0.0099));
  EXPECT_FALSE(desk.reserve(2, "code.0", 100, 100, price));
  EXPECT_EQ(desk.refusal(), StopReason::dollars);
}

TEST_F(DeskTest, WithoutAPriceOneCallAtATimeUntilItShows) {
  RunBudget budget;
  budget.dollars = 1;
  begin(budget);
  EXPECT_EQ(desk.reserve(1, "code.0", 1'000, 8'000, std::nullopt), 8'000U);
  auto second = std::async(std::launch::async,
                           [&] { return desk.reserve(2, "code.0", 1'000, 8'000, std::nullopt); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  ModelCall first = call_of(1, 1'000, 0.01);
  first.usage.completion = 1'000; // at most 0.00001 for a token of a prompt, and of a reply
  desk.account(first);
  EXPECT_EQ(second.get(), 8'000U);
}

TEST_F(DeskTest, ADollarCapIsRefusedWhereNobodyKnowsWhatACallCosts) {
  RunBudget budget;
  budget.dollars = 1;
  begin(budget);
  EXPECT_TRUE(desk.reserve(1, "code.0", 1'000, 8'000, std::nullopt));
  desk.account(call_of(1, 1'000)); // tokens, and no word of money
  EXPECT_FALSE(desk.reserve(2, "code.0", 1'000, 8'000, std::nullopt));
  EXPECT_EQ(desk.refusal(), StopReason::dollars);
}

TEST_F(DeskTest, WhatWasSpentBeforeCountsAndABrokenStreamIsGuessed) {
  RunBudget budget;
  budget.dollars = 0.5;
  RunDesk::Spent spent;
  spent.usage.prompt = 10'000;
  spent.usage.completion = 1'000;
  spent.dollars = 0.45;
  desk.begin(budget, spent, {});
  ModelCall cut = call_of(1, 1'000);
  cut.usage.completion = 100;
  desk.account(cut);
  EXPECT_FALSE(desk.reserve(2, "code.0", 100, 300, std::nullopt));
}

TEST_F(DeskTest, WaitsForWhatOthersLeaveAndStopsWaitingWhenCancelled) {
  RunBudget budget;
  budget.tokens = 10'000;
  begin(budget);
  EXPECT_TRUE(desk.reserve(1, "code.0", 1'000, 8'000, std::nullopt));
  auto second = std::async(std::launch::async,
                           [&] { return desk.reserve(2, "code.0", 1'000, 4'000, std::nullopt); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  desk.account(call_of(1, 2'000));
  EXPECT_EQ(second.get(), 4'000U) << "the first took less than it held";
  auto third = std::async(std::launch::async,
                          [&] { return desk.reserve(3, "code.0", 1'000, 8'000, std::nullopt); });
  cancelled = true;
  EXPECT_FALSE(third.get());
  EXPECT_FALSE(desk.refusal());
}

TEST_F(DeskTest, ACallIsBookedOnce) {
  desk.begin({}, {}, {{1, "code.0"}});
  desk.account(call_of(1, 100)); // recalled: the journal has it
  EXPECT_TRUE(desk.take(1).empty());
  desk.account(call_of(2, 50));
  desk.account(call_of(2, 50));
  EXPECT_EQ(desk.take(2).size(), 1U);
  EXPECT_TRUE(desk.take_all().empty());
}

} // namespace
} // namespace kernevo::evolve
