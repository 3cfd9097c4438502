#include "kernevo/predict/choose_blocks.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

namespace kernevo {
namespace {

TEST(ChooseBlocks, takes_all_of_a_small_grid) {
  EXPECT_THAT(choose_blocks({3, 2, 1}, 16, 1), testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ChooseBlocks, are_distinct_ascending_inside_the_grid_and_about_as_many_as_asked) {
  for (const std::uint64_t count : {8U, 16U, 48U}) {
    const auto blocks = choose_blocks({100, 70, 3}, count, 5);
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
    EXPECT_EQ(std::set(blocks.begin(), blocks.end()).size(), blocks.size());
    EXPECT_LT(blocks.back(), 21000U);
    EXPECT_GE(blocks.size(), count);
    EXPECT_LE(blocks.size(), count + 8);
  }
}

TEST(ChooseBlocks, hold_neighbours_along_every_axis_and_the_last_block) {
  const auto blocks = choose_blocks({100, 70, 3}, 16, 5);
  const std::set<std::uint64_t> all(blocks.begin(), blocks.end());
  for (const std::uint64_t step : {1U, 100U, 7000U})
    EXPECT_TRUE(std::any_of(blocks.begin(), blocks.end(), [&](std::uint64_t b) {
      return all.contains(b + step);
    })) << step;
  EXPECT_TRUE(all.contains(20999));
}

TEST(ChooseBlocks, depend_on_the_seed_alone) {
  EXPECT_EQ(choose_blocks({1000, 1, 1}, 20, 3), choose_blocks({1000, 1, 1}, 20, 3));
  EXPECT_NE(choose_blocks({1000, 1, 1}, 20, 3), choose_blocks({1000, 1, 1}, 20, 4));
}

} // namespace
} // namespace kernevo
