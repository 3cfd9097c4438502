#include "kernevo/vgpu/semantics/warp_exchange.h"

#include <gtest/gtest.h>

namespace kernevo::vgpu {
namespace {

// c as the compiler writes it for __shfl_*_sync(mask, value, distance, width).
std::uint32_t width_operand(ShuffleMode mode, int width) {
  const int clamp = mode == ShuffleMode::up ? 0 : 31;
  return static_cast<std::uint32_t>(((32 - width) << 8) | clamp);
}

TEST(ShuffleSource, WholeWarp) {
  for (int lane = 0; lane < 32; ++lane)
    for (int distance = 0; distance < 32; ++distance) {
      const auto at = [&](ShuffleMode mode) {
        return shuffle_source(mode, lane, static_cast<std::uint32_t>(distance),
                              width_operand(mode, 32));
      };
      EXPECT_EQ(at(ShuffleMode::up).lane, lane >= distance ? lane - distance : lane);
      EXPECT_EQ(at(ShuffleMode::up).in_range, lane >= distance);
      EXPECT_EQ(at(ShuffleMode::down).lane, lane + distance < 32 ? lane + distance : lane);
      EXPECT_EQ(at(ShuffleMode::down).in_range, lane + distance < 32);
      EXPECT_EQ(at(ShuffleMode::butterfly).lane, lane ^ distance);
      EXPECT_EQ(at(ShuffleMode::index).lane, distance);
      EXPECT_TRUE(at(ShuffleMode::index).in_range);
    }
}

// Sub-warps behave as if each were a warp of its own; only .bfly may reach into an earlier one.
TEST(ShuffleSource, Segments) {
  for (const int width : {2, 4, 8, 16})
    for (int lane = 0; lane < 32; ++lane)
      for (int distance = 0; distance < 32; ++distance) {
        const int base = lane / width * width;
        const int own = lane % width;
        const auto at = [&](ShuffleMode mode) {
          return shuffle_source(mode, lane, static_cast<std::uint32_t>(distance),
                                width_operand(mode, width));
        };
        EXPECT_EQ(at(ShuffleMode::up).lane, own >= distance ? lane - distance : lane);
        EXPECT_EQ(at(ShuffleMode::down).lane, own + distance < width ? lane + distance : lane);
        EXPECT_EQ(at(ShuffleMode::index).lane, base + distance % width);
        const int partner = lane ^ distance;
        const bool reachable = partner < base + width;
        EXPECT_EQ(at(ShuffleMode::butterfly).in_range, reachable);
        EXPECT_EQ(at(ShuffleMode::butterfly).lane, reachable ? partner : lane);
      }
}

TEST(ShuffleSource, OnlyFiveBitsOfTheDistanceCount) {
  EXPECT_EQ(shuffle_source(ShuffleMode::down, 0, 33, 31).lane, 1);
  EXPECT_EQ(shuffle_source(ShuffleMode::index, 0, 0xFFFFFFFFU, 31).lane, 31);
}

// A clamp below 31 bounds what .down, .bfly and .idx may read.
TEST(ShuffleSource, Clamp) {
  const ShuffleSource source = shuffle_source(ShuffleMode::index, 2, 9, 7);
  EXPECT_FALSE(source.in_range);
  EXPECT_EQ(source.lane, 2);
  EXPECT_TRUE(shuffle_source(ShuffleMode::down, 5, 2, 7).in_range);
  EXPECT_FALSE(shuffle_source(ShuffleMode::down, 6, 2, 7).in_range);
}

} // namespace
} // namespace kernevo::vgpu
