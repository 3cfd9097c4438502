#include "kernevo/hardware/architecture_table.h"
#include "kernevo/predict/warp_walk.h"

#include "kernevo/sass/parse_instruction.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

constexpr double kFar = 500;

Architecture architecture() {
  return find_architecture(80).value();
}

// One block of straight code.
class Code {
public:
  Code& add(const char* text, int stall, std::optional<int> sets = {}, unsigned waits = 0,
            int line = 0) {
    sass::SassInstruction i = sass::parse_instruction(text);
    i.offset = static_cast<std::uint32_t>(16 * work_.function.instructions.size());
    i.control.stall = stall;
    i.control.write_barrier = sets;
    i.control.wait_mask = waits;
    if (line > 0)
      i.ptx_line = line;
    work_.function.instructions.push_back(std::move(i));
    return *this;
  }
  double cycles(const LaunchCounts& counts = {}) {
    add("EXIT", 5);
    work_.flow = sass::find_flow(work_.function);
    work_.join.edge_threads.assign(work_.flow.edges.size(), 1);
    return walk_warp(work_, AccessTable(counts), architecture(), kFar).front();
  }

private:
  MachineWork work_;
};

LaunchCounts access(int line, std::uint64_t sectors, std::uint64_t hits) {
  LaunchCounts counts;
  InstructionCounts load;
  load.ptx_line = line;
  AccessCounts a{MemorySpace::global, MemoryAction::load};
  a.requests = 1;
  a.sectors = sectors;
  a.l1_hits = hits;
  load.accesses = {a};
  counts.instructions = {load};
  return counts;
}

TEST(WarpWalk, AddsStallsOfStraightCode) {
  EXPECT_DOUBLE_EQ(Code()
                       .add("FFMA R0, R1, R2, R0", 4)
                       .add("FFMA R0, R1, R2, R0", 4)
                       .add("IADD3 R3, R3, 0x1, RZ", 2)
                       .cycles(),
                   4 + 4 + 2 + 5);
}

TEST(WarpWalk, WaitsForSharedMemory) {
  // Issued at 0, awaited by the second instruction.
  const double latency = architecture().shared_latency;
  EXPECT_DOUBLE_EQ(Code().add("LDS R0, [R1]", 1, 0).add("FFMA R2, R0, R0, R2", 4, {}, 1).cycles(),
                   latency + 4 + 5);
}

TEST(WarpWalk, HidesALoadBehindIndependentWork) {
  Code code;
  code.add("LDS R0, [R1]", 1, 0);
  for (int i = 0; i < 20; ++i)
    code.add("FFMA R2, R3, R4, R2", 4);
  EXPECT_DOUBLE_EQ(code.add("FFMA R5, R0, R0, R5", 4, {}, 1).cycles(), 1 + 20 * 4 + 4 + 5);
}

TEST(WarpWalk, ALoadTakesAsLongAsItsSlowestSector) {
  const auto time = [](std::uint64_t hits) {
    return Code()
        .add("LDG.E R0, [R2.64]", 2, 1, 0, 7)
        .add("FFMA R5, R0, R0, R5", 4, {}, 2)
        .cycles(access(7, 4, hits));
  };
  EXPECT_DOUBLE_EQ(time(4), architecture().l1_latency + 4 + 5);
  EXPECT_DOUBLE_EQ(time(0), kFar + 4 + 5);
  EXPECT_DOUBLE_EQ(time(3), kFar + 4 + 5); // one of four sectors is far
}

} // namespace
} // namespace kernevo
