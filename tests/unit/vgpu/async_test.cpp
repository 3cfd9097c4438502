#include "kernevo/vgpu/ops/async_barrier_word.h"

#include <gtest/gtest.h>

namespace kernevo::vgpu::ops {
namespace {

TEST(BarrierWord, KeepsItsFieldsThroughTheWord) {
  BarrierWord barrier = BarrierWord::initial(BarrierWord::kMaxCount);
  ASSERT_TRUE(barrier.arrive(5));
  barrier.expect_transactions(1'000'000);
  const BarrierWord again = BarrierWord::decode(barrier.encode());
  EXPECT_EQ(again.phase, 0U);
  EXPECT_EQ(again.expected, BarrierWord::kMaxCount);
  EXPECT_EQ(again.pending, BarrierWord::kMaxCount - 5);
  EXPECT_EQ(again.transactions, 1'000'000);
  EXPECT_TRUE(BarrierWord::is_valid(barrier.encode()));
  EXPECT_FALSE(BarrierWord::is_valid(0));
}

TEST(BarrierWord, NegativeTransactionsSurvive) {
  BarrierWord barrier = BarrierWord::initial(1);
  barrier.complete_transactions(4096);
  EXPECT_EQ(BarrierWord::decode(barrier.encode()).transactions, -4096);
}

TEST(BarrierWord, PhasesCompleteAndReload) {
  BarrierWord barrier = BarrierWord::initial(3);
  EXPECT_FALSE(barrier.completed_phase(0));
  EXPECT_TRUE(barrier.completed_phase(1)); // the phase before the first
  ASSERT_TRUE(barrier.arrive(2));
  EXPECT_FALSE(barrier.completed_phase(0));
  ASSERT_TRUE(barrier.arrive(1));
  EXPECT_TRUE(barrier.completed_phase(0));
  EXPECT_FALSE(barrier.completed_phase(1));
  EXPECT_EQ(barrier.pending, 3U);
}

TEST(BarrierWord, TooManyArrivalsAreRefused) {
  BarrierWord barrier = BarrierWord::initial(2);
  EXPECT_FALSE(barrier.arrive(3));
  EXPECT_FALSE(barrier.drop(3));
}

TEST(BarrierWord, DroppingLowersTheNextPhases) {
  BarrierWord barrier = BarrierWord::initial(2);
  ASSERT_TRUE(barrier.drop(1));
  ASSERT_TRUE(barrier.arrive(1));
  EXPECT_EQ(barrier.phase, 1U);
  EXPECT_EQ(barrier.pending, 1U);
}

TEST(BarrierWord, WaitsForTransactions) {
  BarrierWord barrier = BarrierWord::initial(1);
  barrier.expect_transactions(256);
  ASSERT_TRUE(barrier.arrive(1));
  EXPECT_FALSE(barrier.completed_phase(0));
  barrier.complete_transactions(128);
  EXPECT_FALSE(barrier.completed_phase(0));
  barrier.complete_transactions(128);
  EXPECT_TRUE(barrier.completed_phase(0));
}

} // namespace
} // namespace kernevo::vgpu::ops
