#include "kernevo/hardware/gpu_table.h"
#include "kernevo/predict/l1_share.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

constexpr std::uint64_t kKib = 1024;

std::uint64_t share(const std::string& gpu, int blocks, std::uint64_t shared) {
  Occupancy occupancy;
  occupancy.blocks_per_multiprocessor = blocks;
  return l1_share(find_gpu(gpu).value(), occupancy, {shared}).value;
}

TEST(L1Share, is_all_of_the_cache_without_shared_memory) {
  EXPECT_EQ(share("A100", 1, 0), 192 * kKib);
  EXPECT_EQ(share("A100", 8, 0), 24 * kKib);
  EXPECT_EQ(share("H100", 1, 0), 256 * kKib);
}

TEST(L1Share, is_what_the_next_size_for_shared_memory_leaves) {
  // 2 x (20 + 1) KiB need 64 of 192.
  EXPECT_EQ(share("A100", 2, 20 * kKib), 64 * kKib);
  // 163 + 1 KiB take the largest, 164.
  EXPECT_EQ(share("A100", 1, 163 * kKib), 28 * kKib);
}

TEST(L1Share, of_turing_is_never_more_than_two_thirds) {
  EXPECT_EQ(share("RTX 2080 Ti", 1, 0), 64 * kKib);
  EXPECT_EQ(share("RTX 2080 Ti", 1, 40 * kKib), 32 * kKib);
}

} // namespace
} // namespace kernevo
