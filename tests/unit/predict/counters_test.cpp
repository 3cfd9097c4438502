#include "kernevo/predict/counters.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

// Two of eight blocks: a load of 10 sectors (4 of them hits) and a branch that parts.
LaunchCounts sample() {
  LaunchCounts launch;
  launch.kernel = "k";
  launch.grid = {4, 2, 1};
  launch.block = {32, 1, 1};
  InstructionCounts load;
  load.opcode = "ld.global.f32";
  load.executions = 2;
  load.threads = 40;
  AccessCounts access{MemorySpace::global, MemoryAction::load};
  access.requests = 2;
  access.threads = 40;
  access.useful_bytes = 160;
  access.sectors = 10;
  access.l1_hits = 4;
  load.accesses = {access};
  InstructionCounts branch;
  branch.opcode = "bra";
  branch.executions = 4;
  branch.threads = 64;
  branch.diverged = 1;
  launch.instructions = {load, branch};
  launch.blocks = {{0, 2, 3}, {5, 4, 3}};
  return launch;
}

TEST(Counters, scale_what_was_counted_to_the_grid) {
  const Counters counters = counters_of(sample());
  EXPECT_EQ(counters.blocks, 8U);
  EXPECT_EQ(counters.blocks_counted, 2U);
  EXPECT_DOUBLE_EQ(counters.value_of("ptx__inst_executed.sum"), 6 * 4);
  EXPECT_DOUBLE_EQ(counters.value_of("ptx__thread_inst_executed.sum"), 104 * 4);
  EXPECT_DOUBLE_EQ(counters.value_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 40);
  EXPECT_DOUBLE_EQ(counters.value_of("lts__t_sectors_op_read.sum"), 24);
}

TEST(Counters, do_not_scale_ratios) {
  const Counters counters = counters_of(sample());
  EXPECT_DOUBLE_EQ(counters.value_of("ptx__thread_inst_executed_per_inst_executed.ratio"),
                   104.0 / 6);
  EXPECT_DOUBLE_EQ(counters.value_of("ptx__branches_divergent.ratio"), 0.25);
  EXPECT_DOUBLE_EQ(
      counters.value_of("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"), 16);
  EXPECT_DOUBLE_EQ(counters.value_of("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.ratio"),
                   0.4);
}

TEST(Counters, say_how_far_the_sample_can_be_off) {
  // Blocks of 2 and 4 instructions: mean 3, variance 2; two of eight.
  EXPECT_DOUBLE_EQ(counters_of(sample()).sampling_error, std::sqrt(2.0 / 2 * 0.75) / 3);
  LaunchCounts whole = sample();
  whole.grid = {2, 1, 1};
  EXPECT_DOUBLE_EQ(counters_of(whole).sampling_error, 0);
}

TEST(Counters, of_what_did_not_happen_are_absent) {
  const Counters counters = counters_of(sample());
  for (const Counter& counter : counters.all) {
    EXPECT_EQ(counter.name.find("shared"), std::string::npos) << counter.name;
    EXPECT_EQ(counter.name.find("op_st"), std::string::npos) << counter.name;
  }
  EXPECT_TRUE(counters_of(LaunchCounts{}).all.empty());
}

} // namespace
} // namespace kernevo
