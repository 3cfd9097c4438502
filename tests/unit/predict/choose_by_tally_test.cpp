#include "kernevo/predict/choose_by_tally.h"

#include "kernevo/base/random.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>

namespace kernevo {
namespace {

std::vector<BlockTally> even(std::size_t blocks) {
  return std::vector<BlockTally>(blocks, {1000, 64, 0});
}

double represented(const WeightedBlocks& chosen) {
  return std::accumulate(chosen.weights.begin(), chosen.weights.end(), 0.0);
}

TEST(ChooseByTally, takes_few_of_equal_blocks_and_each_for_as_many) {
  const auto tallies = even(4096);
  const WeightedBlocks chosen = choose_by_tally({4096, 1, 1}, tallies, 16, 7, 0.01);
  EXPECT_LE(chosen.blocks.size(), 50U);
  EXPECT_NEAR(represented(chosen), 4096, 1e-6);
  EXPECT_NEAR(sampling_error(tallies, chosen), 0, 1e-12);
}

TEST(ChooseByTally, finds_the_one_block_that_does_all_wherever_it_is) {
  for (const std::size_t heavy : {0U, 777U, 2048U, 4095U}) {
    std::vector<BlockTally> tallies(4096, {4, 0, 0});
    tallies[heavy] = {5'000'000, 400'000, 0};
    const WeightedBlocks chosen = choose_by_tally({4096, 1, 1}, tallies, 16, heavy, 0.01);
    const auto found = std::find(chosen.blocks.begin(), chosen.blocks.end(), heavy);
    ASSERT_NE(found, chosen.blocks.end()) << heavy;
    EXPECT_NEAR(chosen.weights[static_cast<std::size_t>(found - chosen.blocks.begin())], 1, 0.02);
    EXPECT_LE(sampling_error(tallies, chosen), 0.01) << heavy;
  }
}

TEST(ChooseByTally, tells_blocks_apart_that_execute_the_same_and_move_more) {
  auto tallies = even(4096);
  for (std::size_t i = 13; i < tallies.size(); i += 64)
    tallies[i].sectors = 64 * 32;
  const WeightedBlocks chosen = choose_by_tally({64, 64, 1}, tallies, 16, 3, 0.01);
  EXPECT_LE(sampling_error(tallies, chosen), 0.01);
  EXPECT_GT(sampling_error(tallies, with_equal_weights({0, 1, 2, 64, 128}, 4096)), 0.1);
}

TEST(ChooseByTally, tells_blocks_apart_that_have_more_atomics) {
  auto tallies = even(1024);
  for (BlockTally& tally : tallies)
    tally.atomics = 1;
  tallies[500].atomics = 50'000;
  const WeightedBlocks chosen = choose_by_tally({1024, 1, 1}, tallies, 16, 3, 0.01);
  EXPECT_THAT(chosen.blocks, testing::Contains(500U));
}

TEST(ChooseByTally, an_atomic_beside_a_million_instructions_needs_no_block_of_its_own) {
  auto tallies = even(1024);
  tallies[500].atomics = 1;
  EXPECT_LE(choose_by_tally({1024, 1, 1}, tallies, 16, 3, 0.01).blocks.size(), 50U);
}

TEST(ChooseByTally, takes_as_many_blocks_as_a_wide_spread_needs) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const CounterRandom random(seed);
    std::vector<BlockTally> tallies;
    for (std::uint64_t i = 0; i < 10'000; ++i)
      tallies.push_back({100 + (random.bits(3 * i) % 1000) * (random.bits(3 * i + 1) % 1000),
                         random.bits(3 * i + 2) % 5000, 0});
    const WeightedBlocks chosen = choose_by_tally({100, 100, 1}, tallies, 16, seed, 0.01);
    EXPECT_LE(sampling_error(tallies, chosen), 0.02) << seed;
    EXPECT_LE(chosen.blocks.size(), 1200U) << seed;
    double instructions = 0;
    double exact = 0;
    for (std::size_t i = 0; i < chosen.blocks.size(); ++i)
      instructions +=
          chosen.weights[i] * static_cast<double>(tallies[chosen.blocks[i]].warp_instructions);
    for (const BlockTally& tally : tallies)
      exact += static_cast<double>(tally.warp_instructions);
    EXPECT_NEAR(instructions / exact, 1, 1e-9) << seed;
  }
}

TEST(ChooseByTally, brings_the_neighbours_of_those_that_move_most) {
  std::vector<BlockTally> tallies(4096, {4, 1, 0});
  tallies[777] = {5'000'000, 400'000, 0};
  EXPECT_THAT(choose_by_tally({64, 64, 1}, tallies, 16, 3, 0.01).blocks,
              testing::IsSupersetOf({776U, 777U, 777U - 64U}));
}

TEST(ChooseByTally, depends_on_the_seed_alone) {
  const auto tallies = even(5000);
  EXPECT_EQ(choose_by_tally({5000, 1, 1}, tallies, 16, 3, 0.01).blocks,
            choose_by_tally({5000, 1, 1}, tallies, 16, 3, 0.01).blocks);
  EXPECT_NE(choose_by_tally({5000, 1, 1}, tallies, 16, 3, 0.01).blocks,
            choose_by_tally({5000, 1, 1}, tallies, 16, 4, 0.01).blocks);
}

} // namespace
} // namespace kernevo
