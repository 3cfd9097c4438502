#include "kernevo/explain/source_lines.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

InstructionCounts instruction(int source_line, const char* opcode, std::uint64_t executions,
                              std::uint64_t threads) {
  InstructionCounts i;
  i.source_file = "folder/k.cu";
  i.source_line = source_line;
  i.ptx_line = source_line * 10;
  i.opcode = opcode;
  i.executions = executions;
  i.threads = threads;
  return i;
}

// Line 3: a load of 8 sectors where 4 would do, line 5: a broadcast and a conflict in shared
// memory, line 7: arithmetic with half of the lanes.
LaunchCounts sample() {
  LaunchCounts counts;
  InstructionCounts load = instruction(3, "ld.global.f32", 2, 64);
  AccessCounts global{MemorySpace::global, MemoryAction::load};
  global.requests = 2;
  global.threads = 64;
  global.useful_bytes = 256;
  global.sectors = 16;
  load.accesses = {global};
  InstructionCounts shared = instruction(5, "ld.shared.f32", 2, 64);
  AccessCounts bank{MemorySpace::shared, MemoryAction::load};
  bank.requests = 2;
  bank.threads = 64;
  bank.useful_bytes = 4 + 128;
  bank.wavefronts = 1 + 9;
  shared.accesses = {bank};
  counts.instructions = {load, shared, instruction(7, "fma.rn.f32", 6, 96)};
  counts.blocks = {{0, 10, 0}};
  return counts;
}

Prediction prediction() {
  Prediction p;
  p.time = Nanoseconds{100};
  p.bounds = {{"l1", Nanoseconds{80}}, {"issue", Nanoseconds{50}}, {"shared", Nanoseconds{10}}};
  return p;
}

TEST(SourceLines, hold_their_part_of_everything) {
  const std::vector<SourceLine> lines = find_source_lines(sample(), nullptr, prediction());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].place(), "k.cu:3"); // all sectors, of 80 % of the time
  EXPECT_DOUBLE_EQ(lines[0].weight, 0.8);
  EXPECT_DOUBLE_EQ(lines[0].sector_share, 1);
  EXPECT_DOUBLE_EQ(lines[0].memory.sectors / lines[0].memory.requests, 8);
  EXPECT_DOUBLE_EQ(lines[0].memory.ideal_sectors / lines[0].memory.requests, 4);
  EXPECT_DOUBLE_EQ(lines[0].issue_share, 0.2);
  EXPECT_EQ(lines[1].line, 7); // 60 % of the instructions, of 50 % of the time
  EXPECT_DOUBLE_EQ(lines[1].weight, 0.3);
  EXPECT_DOUBLE_EQ(lines[1].lanes_active, 0.5);
  EXPECT_DOUBLE_EQ(lines[1].idle_lanes, 96);
  EXPECT_EQ(lines[2].line, 5);
  EXPECT_DOUBLE_EQ(lines[2].wavefront_share, 1);
  EXPECT_DOUBLE_EQ(lines[2].shared.wavefronts, 10);
  EXPECT_DOUBLE_EQ(lines[2].shared.ideal_wavefronts, 2);
}

TEST(SourceLines, take_issue_slots_from_machine_code_where_there_is_some) {
  MachineWork work;
  for (const int ptx_line : {30, 70, 70, 0}) {
    sass::SassInstruction i;
    if (ptx_line > 0)
      i.ptx_line = ptx_line;
    work.function.instructions.push_back(i);
    work.join.instructions.push_back({5, 160, 160});
  }
  const std::vector<SourceLine> lines = find_source_lines(sample(), &work, prediction());
  double known = 0;
  for (const SourceLine& line : lines) {
    if (line.line == 7) {
      EXPECT_DOUBLE_EQ(line.issue_share, 0.5);
    }
    if (line.file.empty()) {
      EXPECT_DOUBLE_EQ(line.issue_share, 0.25);
      EXPECT_EQ(line.place(), "(no source line)");
    }
    known += line.issue_share;
  }
  EXPECT_DOUBLE_EQ(known, 1);
}

} // namespace
} // namespace kernevo
