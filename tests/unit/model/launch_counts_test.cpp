#include "kernevo/model/launch_counts.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

TEST(LaunchCounts, ABlockThatWasCountedInPartIsWorthThatPart) {
  LaunchCounts counts;
  EXPECT_EQ(counts.represented(), 1); // sums are divided by it
  BlockCounts block;
  block.weight = 0.25;
  counts.blocks = {block};
  EXPECT_EQ(counts.represented(), 0.25);
  counts.blocks.push_back(block);
  EXPECT_EQ(counts.represented(), 0.5);
}

} // namespace
} // namespace kernevo
