#include "kernevo/hardware/gpu_table.h"
#include "kernevo/predict/traffic.h"

#include "kernevo/predict/calibration.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

constexpr double kSector = 32;

Gpu gpu() {
  return find_gpu("A100").value();
}

Occupancy full() {
  Occupancy occupancy;
  occupancy.blocks_per_multiprocessor = 8;
  occupancy.active_warps = 64;
  occupancy.fraction = 1;
  return occupancy;
}

// Every block reads `sectors` of one buffer and hits nothing in L1.
LaunchCounts reading(std::array<std::uint32_t, 3> grid, double sectors, std::uint64_t bytes,
                     std::array<std::optional<double>, 3> overlap) {
  LaunchCounts counts;
  counts.grid = grid;
  counts.block = {256, 1, 1};
  InstructionCounts load;
  load.opcode = "ld.global.f32";
  load.executions = 8;
  AccessCounts access{MemorySpace::global, MemoryAction::load};
  access.requests = 8;
  access.sectors = static_cast<std::uint64_t>(sectors);
  load.accesses = {access};
  counts.instructions = {load};
  counts.footprints = {{"x", bytes, sectors, 0, overlap, {}}};
  counts.blocks = {{0, 8, static_cast<std::uint64_t>(sectors)}};
  return counts;
}

TEST(Traffic, StreamedDataComesFromDramOnce) {
  const std::uint32_t blocks = 100000;
  const GridTraffic t = grid_traffic(
      gpu(), reading({blocks, 1, 1}, 32, std::uint64_t{blocks} * 1024, {0.0}), full(), {});
  EXPECT_DOUBLE_EQ(t.total.l2_read_bytes, blocks * 32 * kSector);
  EXPECT_DOUBLE_EQ(t.total.dram_read_bytes, blocks * 32 * kSector);
  EXPECT_DOUBLE_EQ(t.dram_share, 1);
}

TEST(Traffic, WhatAllBlocksReadComesFromDramOnce) {
  // 16 KiB read by each of 10,000 blocks: 160 MB pass L2, 16 KiB pass DRAM.
  const GridTraffic t = grid_traffic(gpu(), reading({10000, 1, 1}, 512, 16384, {1.0}), full(), {});
  EXPECT_DOUBLE_EQ(t.total.l2_read_bytes, 10000.0 * 16384);
  EXPECT_NEAR(t.total.dram_read_bytes, 16384, 1);
}

TEST(Traffic, RowsThatOutgrowL2AreReadAgain) {
  // Rows of blocks share nothing along x and everything along y. A row of 20,000 blocks touches
  // 655 MB, far more than L2 holds, so that little is left for the next row.
  const LaunchCounts large =
      reading({20000, 64, 1}, 1024, std::uint64_t{20000} * 32768, {0.0, 1.0});
  const double row = 20000.0 * 32768;
  const double again = grid_traffic(gpu(), large, full(), {}).total.dram_read_bytes;
  EXPECT_GT(again, 0.9 * 64 * row);
  // A row of 500 blocks (16 MB) stays: read once, whatever the number of rows.
  const LaunchCounts small = reading({500, 64, 1}, 1024, std::uint64_t{500} * 32768, {0.0, 1.0});
  EXPECT_NEAR(grid_traffic(gpu(), small, full(), {}).total.dram_read_bytes, 500.0 * 32768, 1);
}

TEST(Traffic, StackBeyondTheCachesReachesDram) {
  LaunchCounts counts = reading({864, 1, 1}, 8, 1 << 20, {0.0});
  LocalTraffic local{4096, 4096, 64};
  // 2048 threads x 64 bytes = 128 KiB of a multiprocessor fit L1 and L2: only stores pass on.
  const GridTraffic fits = grid_traffic(gpu(), counts, full(), local);
  EXPECT_DOUBLE_EQ(fits.local_dram_bytes, 0);
  EXPECT_GE(fits.total.l2_write_bytes, 864.0 * 4096 * kSector);
  // 16 KiB a thread: 3.6 GB in all.
  local.bytes_per_thread = 16384;
  const GridTraffic thrashes = grid_traffic(gpu(), counts, full(), local);
  EXPECT_GT(thrashes.local_dram_bytes, 0.9 * 864 * 2 * 4096 * kSector);
}

TEST(Traffic, NothingLeavesDramThatDidNotPassL2) {
  LaunchCounts counts = reading({1000, 1, 1}, 100, 1 << 30, {0.0});
  counts.instructions[0].accesses[0].l1_hits = 100;
  const GridTraffic t = grid_traffic(gpu(), counts, full(), {});
  EXPECT_DOUBLE_EQ(t.total.l2_read_bytes, 0);
  EXPECT_DOUBLE_EQ(t.total.dram_read_bytes, 0);
}

} // namespace
} // namespace kernevo
