#include "kernevo/explain/measure_launch.h"
#include "kernevo/hardware/gpu_table.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

struct Launch {
  Gpu gpu = find_gpu("A100").value();
  LaunchCounts counts;
  KernelResources resources;
  Prediction prediction;
  PlannedWork planned;

  Metrics measure() const {
    const LaunchEvidence evidence{gpu, counts, resources, nullptr, prediction, planned};
    return measure_launch(evidence, find_source_lines(counts, nullptr, prediction),
                          count_arithmetic(counts));
  }
};

InstructionCounts instruction(const char* opcode, std::uint64_t executions, std::uint64_t threads) {
  InstructionCounts i;
  i.source_file = "k.cu";
  i.source_line = 1;
  i.opcode = opcode;
  i.executions = executions;
  i.threads = threads;
  return i;
}

AccessCounts access(MemorySpace space, MemoryAction action, std::uint64_t requests,
                    std::uint64_t bytes, std::uint64_t sectors, std::uint64_t wavefronts = 0) {
  AccessCounts a{space, action};
  a.requests = requests;
  a.threads = requests * 32;
  a.useful_bytes = bytes;
  a.sectors = sectors;
  a.wavefronts = wavefronts;
  return a;
}

Launch sample() {
  Launch l;
  l.counts.grid = {54, 1, 1};
  l.counts.block = {48, 1, 1}; // one and a half warps
  l.counts.blocks = {{0, 10, 0}, {1, 10, 0}};
  l.prediction.time = Nanoseconds{1000};
  l.prediction.bounds = {{"dram", Nanoseconds{700}},
                         {"shared", Nanoseconds{600}},
                         {"fma", Nanoseconds{500}},
                         {"l1", Nanoseconds{100}}};
  l.prediction.waves = 0.1;
  l.prediction.occupancy.fraction = 0.5;
  l.prediction.occupancy.limiter = OccupancyLimiter::shared_memory;
  l.prediction.traffic.dram_read_bytes = 1e6;
  l.prediction.traffic.l2_read_bytes = 3e6;
  return l;
}

TEST(MeasureLaunch, groups_shares) {
  const Metrics m = sample().measure();
  EXPECT_DOUBLE_EQ(*m.find("share.dram"), 0.7);
  EXPECT_DOUBLE_EQ(*m.find("share.compute"), 0.5);
  EXPECT_DOUBLE_EQ(*m.find("share.memory"), 0.7);
  EXPECT_DOUBLE_EQ(*m.find("share.multiprocessor"), 0.6);
  EXPECT_DOUBLE_EQ(*m.find("share.busiest"), 0.7);
  EXPECT_DOUBLE_EQ(*m.find("share.latency"), 0); // a bound that is not there
  EXPECT_EQ(m.fact("busiest_unit"), "shared memory");
}

TEST(MeasureLaunch, describes_the_grid) {
  const Metrics m = sample().measure();
  EXPECT_DOUBLE_EQ(*m.find("lanes_in_block"), 0.75);
  EXPECT_DOUBLE_EQ(*m.find("grid_balance"), 0.5);        // 54 blocks on 108 multiprocessors
  EXPECT_DOUBLE_EQ(*m.find("achieved_occupancy"), 0.05); // a tenth of a wave
  EXPECT_DOUBLE_EQ(*m.find("limiter.shared_memory"), 1);
  EXPECT_DOUBLE_EQ(*m.find("limiter.registers"), 0);
  EXPECT_EQ(m.fact("limiter"), "shared memory");
  EXPECT_DOUBLE_EQ(*m.find("rereads"), 3);
  Launch later = sample();
  later.prediction.waves = 1.25;
  EXPECT_DOUBLE_EQ(*later.measure().find("grid_balance"), 0.625);
}

TEST(MeasureLaunch, a_broadcast_is_not_uncoalesced) {
  Launch l = sample();
  l.counts.instructions = {instruction("ld.global.f32", 10, 320)};
  l.counts.instructions[0].accesses = {access(MemorySpace::global, MemoryAction::load, 10, 40, 10)};
  const Metrics m = l.measure();
  EXPECT_DOUBLE_EQ(*m.find("excess_sector_fraction"), 0);
  EXPECT_DOUBLE_EQ(*m.find("useful_byte_fraction"), 0.125);
}

TEST(MeasureLaunch, counts_sectors_a_dense_layout_would_not_touch) {
  Launch l = sample();
  l.counts.instructions = {instruction("ld.global.f32", 10, 320),
                           instruction("st.global.f32", 10, 320)};
  l.counts.instructions[0].accesses = {
      access(MemorySpace::global, MemoryAction::load, 10, 1280, 320)};
  l.counts.instructions[1].accesses = {
      access(MemorySpace::global, MemoryAction::store, 10, 1280, 40)};
  const Metrics m = l.measure();
  EXPECT_DOUBLE_EQ(*m.find("sectors_per_request.load"), 32);
  EXPECT_DOUBLE_EQ(*m.find("ideal_sectors_per_request.load"), 4);
  EXPECT_DOUBLE_EQ(*m.find("sectors_per_request.store"), 4);
  EXPECT_DOUBLE_EQ(*m.find("excess_sector_fraction"), 280.0 / 360);
  EXPECT_EQ(m.fact("line.sectors"), "k.cu:1");
}

TEST(MeasureLaunch, a_wide_access_to_shared_memory_is_no_conflict) {
  Launch l = sample();
  l.counts.instructions = {instruction("ld.shared.v4.f32", 10, 320)};
  l.counts.instructions[0].accesses = {
      access(MemorySpace::shared, MemoryAction::load, 10, 5120, 0, 40)};
  EXPECT_DOUBLE_EQ(*l.measure().find("bank_conflict_factor"), 1);
  l.counts.instructions[0].accesses[0].wavefronts = 80;
  EXPECT_DOUBLE_EQ(*l.measure().find("bank_conflict_factor"), 2);
}

TEST(MeasureLaunch, tells_lanes_without_a_thread_from_diverged_ones) {
  Launch l = sample();
  l.counts.instructions = {instruction("add.s32", 10, 240)}; // all the threads there are
  EXPECT_DOUBLE_EQ(*l.measure().find("lanes_active"), 0.75);
  EXPECT_DOUBLE_EQ(*l.measure().find("divergence"), 0);
  l.counts.instructions = {instruction("add.s32", 10, 120)};
  EXPECT_DOUBLE_EQ(*l.measure().find("divergence"), 0.5);
}

TEST(MeasureLaunch, leaves_out_what_the_launch_has_not) {
  const Metrics m = sample().measure();
  for (const char* name : {"bank_conflict_factor", "excess_sector_fraction", "spill_bytes",
                           "atomic_collision_fraction", "instructions_per_barrier",
                           "roofline_fraction", "local_instruction_fraction"})
    EXPECT_FALSE(m.find(name)) << name;
}

TEST(MeasureLaunch, compares_with_the_tasks_roofline) {
  Launch l = sample();
  l.planned.least = Nanoseconds{800};
  l.planned.predicted = Nanoseconds{2000};
  l.planned.flops = 1e6;
  l.planned.bytes = 1e5;
  l.planned.dtype = DType::float16;
  const Metrics m = l.measure();
  EXPECT_DOUBLE_EQ(*m.find("roofline_fraction"), 0.4);
  EXPECT_DOUBLE_EQ(*m.find("task_intensity"), 10);
  EXPECT_DOUBLE_EQ(*m.find("tensor_possible"), 1);
  EXPECT_DOUBLE_EQ(*m.find("plan_share"), 0.5);
  l.planned.dtype = DType::float32;
  EXPECT_DOUBLE_EQ(*l.measure().find("tensor_possible"), 0);
  l.planned.allow_tf32 = true;
  EXPECT_DOUBLE_EQ(*l.measure().find("tensor_possible"), 1);
}

} // namespace
} // namespace kernevo
