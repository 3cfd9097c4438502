// Counts worked out by hand for a few machine instructions.
#include "kernevo/predict/machine_counters.h"

#include "kernevo/sass/operand_width.h"
#include "kernevo/sass/parse_instruction.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

struct Given {
  const char* text;
  int ptx_line;
  double warps;
  double threads_on; // of 32 lanes a warp that come by
};

// One basic block a `blocks` entry: how many instructions it has.
MachineWork work_of(const std::vector<Given>& given, std::vector<std::size_t> blocks = {}) {
  MachineWork work;
  for (const Given& g : given) {
    sass::SassInstruction i = sass::parse_instruction(g.text);
    i.ptx_line = g.ptx_line;
    work.function.instructions.push_back(std::move(i));
    work.join.instructions.push_back({g.warps, g.warps * 32, g.threads_on});
  }
  if (blocks.empty())
    blocks = {given.size()};
  std::size_t first = 0;
  for (const std::size_t count : blocks) {
    sass::BasicBlock block;
    block.first = first;
    block.last = first + count;
    block.reachable = true;
    work.flow.blocks.push_back(block);
    work.join.blocks.push_back(work.join.instructions[first]);
    work.flow.block_of.insert(work.flow.block_of.end(), count, work.flow.blocks.size() - 1);
    first += count;
  }
  return work;
}

// One of four blocks ran; `accesses` by PTX line.
LaunchCounts launch_of(const std::vector<std::pair<int, AccessCounts>>& accesses) {
  LaunchCounts launch;
  launch.grid = {4, 1, 1};
  launch.block = {64, 1, 1};
  launch.blocks = {{0, 1, 0}};
  for (const auto& [line, access] : accesses) {
    InstructionCounts i;
    i.ptx_line = line;
    i.opcode = "access";
    i.executions = access.requests;
    i.accesses = {access};
    launch.instructions.push_back(i);
  }
  return launch;
}

AccessCounts access(MemorySpace space, MemoryAction action, std::uint64_t requests,
                    std::uint64_t sectors, std::uint64_t wavefronts = 0) {
  AccessCounts a{space, action};
  a.requests = requests;
  a.sectors = sectors;
  a.wavefronts = wavefronts;
  return a;
}

TEST(MachineCounters, CountInstructionsByClassAndPipe) {
  const MachineWork work = work_of({{"S2R R0, SR_TID.X", 1, 2, 64},
                                    {"S2R R3, SR_CTAID.X", 1, 2, 64},
                                    {"IMAD R1, R0, 0x4, R2", 2, 2, 64},
                                    {"FFMA R4, R5, R6, R7", 3, 20, 640},
                                    {"@P0 FADD R4, R4, R5", 4, 2, 10},
                                    {"MUFU.RSQ R8, R4", 5, 2, 64},
                                    {"BAR.SYNC 0x0", 6, 2, 64},
                                    {"EXIT", 7, 2, 64}});
  const Counters c = machine_counters(launch_of({}), work);
  EXPECT_EQ(c.blocks, 4U);
  // 20 + 7 x 2 warp instructions, four times: one block of four ran.
  EXPECT_DOUBLE_EQ(c.value_of("smsp__inst_executed.sum"), 34 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("smsp__thread_inst_executed.sum"), 34 * 32 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("smsp__thread_inst_executed_per_inst_executed.ratio"), 32);
  // The guarded FADD acts on 10 of its 64 lanes.
  EXPECT_DOUBLE_EQ(c.value_of("smsp__thread_inst_executed_pred_on.sum"), (34 * 32 - 54) * 4);
  EXPECT_DOUBLE_EQ(c.value_of("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"),
                   (640 + 10 + 64) * 4);
  EXPECT_DOUBLE_EQ(c.value_of("smsp__sass_thread_inst_executed_op_integer_pred_on.sum"), 64 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("smsp__sass_thread_inst_executed_op_control_pred_on.sum"), 64 * 4);
  // Special registers and the barrier.
  EXPECT_DOUBLE_EQ(c.value_of("smsp__sass_thread_inst_executed_op_misc_pred_on.sum"), 192 * 4);
  // FFMA and FADD, and the IMAD in a half of the same pipe.
  EXPECT_DOUBLE_EQ(c.value_of("smsp__inst_executed_pipe_fma.sum"), 24 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("smsp__inst_executed_pipe_fmaheavy.sum"), 2 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("smsp__inst_executed_pipe_xu.sum"), 2 * 4);
  // threadIdx comes from where shared memory is, blockIdx does not.
  EXPECT_DOUBLE_EQ(c.value_of("smsp__inst_executed_pipe_lsu.sum"), 2 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), 2 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 0);
}

TEST(MachineCounters, CarrySectorsOverToTheAccessesThatWereMade) {
  // Line 10 ran eight times with 4 sectors each. ptxas merged two of its runs into one wide load.
  const MachineWork work =
      work_of({{"LDG.E.64 R4, [R2]", 10, 4, 128}, {"STG.E [R2], R4", 11, 2, 64}});
  const Counters c =
      machine_counters(launch_of({{10, access(MemorySpace::global, MemoryAction::load, 8, 32)},
                                  {11, access(MemorySpace::global, MemoryAction::store, 2, 16)}}),
                       work);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 4 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 16 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 16 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("lts__t_sectors_op_write.sum"), 16 * 4);
}

TEST(MachineCounters, CountRequestsOfAGuardedAccessOnlyWhereALaneIsOn) {
  // Eight warps come by, three have a lane that loads.
  const MachineWork work = work_of({{"@P0 LDG.E R4, [R2]", 10, 8, 40}});
  const Counters c = machine_counters(
      launch_of({{10, access(MemorySpace::global, MemoryAction::load, 3, 6)}}), work);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 3 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 6 * 4);
}

TEST(MachineCounters, CountSpillsThatNoPtxAsksFor) {
  // 32 lanes x 4 bytes are 4 sectors, x 16 bytes are 16. The array's load has 9 a request.
  const MachineWork work = work_of({{"STL [R1], R4", 3, 2, 64},
                                    {"LDL.128 R4, [R1]", 3, 2, 64},
                                    {"LDL R8, [R1+0x20]", 12, 5, 160}});
  const Counters c = machine_counters(
      launch_of({{12, access(MemorySpace::local, MemoryAction::load, 5, 45)}}), work);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"), 2 * 4 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"), (2 * 16 + 45) * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"), 7 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("sass__spill_inst_executed.sum"), 4 * 4);
  // Spills leave L1 as well.
  EXPECT_DOUBLE_EQ(c.value_of("lts__t_sectors_op_write.sum"), 2 * 4 * 4);
}

TEST(MachineCounters, KeepBankConflictsOfSharedAccesses) {
  const MachineWork work = work_of({{"LDS R4, [R2]", 10, 6, 192}, {"STS [R2], R4", 11, 2, 64}});
  const Counters c = machine_counters(
      launch_of({{10, access(MemorySpace::shared, MemoryAction::load, 6, 0, 12)},
                 {11, access(MemorySpace::shared, MemoryAction::store, 2, 0, 64)}}),
      work);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 12 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"), 64 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), 76 * 4);
}

TEST(MachineCounters, CountAnAsynchronousCopyOnBothSides) {
  const MachineWork work = work_of({{"LDGSTS.E.128 [R2], [R4.64]", 10, 3, 96}});
  LaunchCounts launch = launch_of({{10, access(MemorySpace::global, MemoryAction::load, 3, 48)}});
  launch.instructions[0].accesses.push_back(
      access(MemorySpace::shared, MemoryAction::store, 3, 0, 12));
  const Counters c = machine_counters(launch, work);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 48 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"), 12 * 4);
}

TEST(MachineCounters, TellAtomicsThatGiveAValueBackFromReductions) {
  const MachineWork work = work_of({{"RED.E.ADD.STRONG.GPU [R2], R4", 10, 2, 64},
                                    {"ATOMG.E.ADD.STRONG.GPU PT, R6, [R2], R4", 11, 1, 32}});
  const Counters c =
      machine_counters(launch_of({{10, access(MemorySpace::global, MemoryAction::atomic, 2, 2)},
                                  {11, access(MemorySpace::global, MemoryAction::atomic, 1, 4)}}),
                       work);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"), 2 * 4);
  EXPECT_DOUBLE_EQ(c.value_of("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"), 4 * 4);
}

TEST(MachineCounters, MeasureTheDistanceToTheFirstReader) {
  // Block of 1 warp: R4 read 3 later, R5 2 later (its second reader does not count), R6 next.
  // Block of 3 warps: P0 guards the next one; R9 is read only after it was written again.
  const MachineWork work = work_of({{"FADD R4, R1, R2", 1, 1, 32},
                                    {"FADD R5, R1, R2", 1, 1, 32},
                                    {"FADD R6, R1, R2", 1, 1, 32},
                                    {"FFMA R7, R4, R5, R6", 1, 1, 32},
                                    {"ISETP.GE.AND P0, PT, R1, R2, PT", 2, 3, 96},
                                    {"@P0 MOV R9, R1", 2, 3, 96},
                                    {"MOV R9, R2", 2, 3, 96},
                                    {"MOV R10, R9", 2, 3, 96}},
                                   {4, 4});
  // 1 x (3 + 2 + 1) + 3 x (1 + 1), over 3 + 6 pairs.
  EXPECT_DOUBLE_EQ(dependency_distance(work), 12.0 / 9);
}

} // namespace
} // namespace kernevo
