// Counters of profile mode against values worked out by hand: each test says how.
#include "harness.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>

namespace kernevo::vgpu::testing {
namespace {

constexpr std::uint64_t kL1 = 32U << 10U;

struct Profiled {
  LaunchCounts counts;

  const InstructionCounts& instruction(const std::string& opcode, std::size_t nth = 0) const {
    for (const InstructionCounts& each : counts.instructions)
      if (each.opcode == opcode && nth-- == 0)
        return each;
    ADD_FAILURE() << "no " << opcode << " was executed";
    static const InstructionCounts none;
    return none;
  }
  AccessCounts access(const std::string& opcode, std::size_t nth = 0) const {
    const InstructionCounts& found = instruction(opcode, nth);
    EXPECT_EQ(found.accesses.size(), 1U) << opcode;
    return found.accesses.empty() ? AccessCounts{} : found.accesses.front();
  }
};

Profiled profile(const std::string& body, std::uint32_t blocks, std::uint32_t threads,
                 const std::string& before = "", std::size_t words = 65536) {
  MachineOptions options;
  options.profile_l1_bytes = kL1;
  Bench bench(kernel(body, before), options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(words));
  const LaunchResult result =
      bench.launch("k", {blocks, 1, 1}, {threads, 1, 1}, Parameters().add(out));
  EXPECT_FALSE(result.fault.has_value()) << fault_text(result);
  EXPECT_TRUE(result.counts.has_value());
  return {result.counts.value_or(LaunchCounts{})};
}

// %rd2 = out + tid * stride + offset, in bytes.
std::string strided(int stride, int offset = 0) {
  return "mul.wide.u32 %rd2, %r0, " + std::to_string(stride) + ";\n add.u64 %rd2, %rd2, %rd0;\n" +
         " add.u64 %rd2, %rd2, " + std::to_string(offset) + ";\n";
}

TEST(Profile, a_coalesced_copy_takes_four_sectors_a_warp) {
  // 3 blocks x 2 warps, 32 lanes x 4 bytes = 128 bytes = 4 sectors = 1 line each.
  const Profiled p =
      profile("ld.global.u32 %r5, [%rd1];\n st.global.u32 [%rd1], %r5;\n ret;", 3, 64);
  const AccessCounts load = p.access("ld.global.u32");
  EXPECT_EQ(load, (AccessCounts{MemorySpace::global, MemoryAction::load, 6, 192, 768, 24, 6}));
  const AccessCounts store = p.access("st.global.u32");
  EXPECT_EQ(store, (AccessCounts{MemorySpace::global, MemoryAction::store, 6, 192, 768, 24, 6}));
  EXPECT_EQ(p.instruction("ld.global.u32").executions, 6U);
  EXPECT_EQ(p.instruction("ld.global.u32").threads, 192U);
  EXPECT_EQ(p.instruction("ret").executions, 6U);
}

TEST(Profile, strides_spread_over_sectors) {
  struct Case {
    int stride;
    std::uint64_t sectors;
    std::uint64_t lines;
  };
  // A stride of 8 covers 256 bytes; from 32 on every lane has a sector, from 128 on a line.
  for (const Case& c : {Case{8, 8, 2}, Case{32, 32, 8}, Case{128, 32, 32}, Case{256, 32, 32}}) {
    const AccessCounts load =
        profile(strided(c.stride) + "ld.global.u32 %r5, [%rd2];\n ret;", 1, 32)
            .access("ld.global.u32");
    EXPECT_EQ(load.sectors, c.sectors) << c.stride;
    EXPECT_EQ(load.lines, c.lines) << c.stride;
    EXPECT_EQ(load.useful_bytes, 128U) << c.stride;
  }
}

TEST(Profile, a_broadcast_is_one_sector) {
  const AccessCounts load =
      profile("ld.global.u32 %r5, [%rd0];\n ret;", 1, 32).access("ld.global.u32");
  EXPECT_EQ(load.sectors, 1U);
  EXPECT_EQ(load.useful_bytes, 4U);
  EXPECT_EQ(load.threads, 32U);
}

TEST(Profile, an_offset_of_a_word_costs_a_sector) {
  // Bytes 4 to 131: sectors 0 to 4, lines 0 and 1.
  const AccessCounts load =
      profile(strided(4, 4) + "ld.global.u32 %r5, [%rd2];\n ret;", 1, 32).access("ld.global.u32");
  EXPECT_EQ(load.sectors, 5U);
  EXPECT_EQ(load.lines, 2U);
}

TEST(Profile, vectors_of_four) {
  // 32 lanes x 16 bytes = 512 bytes = 16 sectors = 4 lines.
  const AccessCounts load =
      profile(strided(16) + "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd2];\n ret;", 1, 32)
          .access("ld.global.v4.u32");
  EXPECT_EQ(load, (AccessCounts{MemorySpace::global, MemoryAction::load, 1, 32, 512, 16, 4}));
}

TEST(Profile, shared_strides_and_banks) {
  struct Case {
    int stride; // bytes
    std::uint64_t wavefronts;
  };
  // Word stride s hits 32 / gcd(s, 32) banks: the passes are gcd(s, 32).
  for (const Case& c : {Case{0, 1}, Case{4, 1}, Case{8, 2}, Case{16, 4}, Case{128, 32},
                        Case{132, 1}, Case{12, 1}}) {
    const AccessCounts load =
        profile("mov.u32 %r10, tile;\n mad.lo.u32 %r11, %r0, " + std::to_string(c.stride) +
                    ", %r10;\n ld.shared.u32 %r5, [%r11];\n ret;",
                1, 32, ".shared .align 16 .b8 tile[8192];")
            .access("ld.shared.u32");
    EXPECT_EQ(load.wavefronts, c.wavefronts) << c.stride;
    EXPECT_EQ(load.requests, 1U);
    EXPECT_EQ(load.sectors, 0U);
  }
}

TEST(Profile, shared_vectors_of_four_take_four_passes) {
  // 512 bytes over banks of 128 bytes a pass.
  const AccessCounts store = profile("mov.u32 %r10, tile;\n mad.lo.u32 %r11, %r0, 16, %r10;\n"
                                     "st.shared.v4.u32 [%r11], {%r0, %r1, %r2, %r3};\n ret;",
                                     1, 32, ".shared .align 16 .b8 tile[8192];")
                                 .access("st.shared.v4.u32");
  EXPECT_EQ(store.wavefronts, 4U);
}

TEST(Profile, atomics_of_one_address_collide) {
  // 31 of 32 lanes find another at their address; with one address a lane none does.
  EXPECT_EQ(profile("red.global.add.u32 [%rd0], 1;\n ret;", 2, 32)
                .access("red.global.add.u32")
                .collisions,
            62U);
  EXPECT_EQ(profile("red.global.add.u32 [%rd1], 1;\n ret;", 2, 32)
                .access("red.global.add.u32")
                .collisions,
            0U);
}

TEST(Profile, lanes_that_part) {
  // Lanes 0 to 9 skip the addition: the branch parts, the addition has 22 lanes.
  const Profiled p = profile("setp.lt.u32 %p0, %r0, 10;\n @%p0 bra DONE;\n xor.b32 %r5, %r0, 1;\n"
                             "DONE: not.b32 %r6, %r0;\n ret;",
                             1, 32);
  EXPECT_EQ(p.instruction("bra").executions, 1U);
  EXPECT_EQ(p.instruction("bra").threads, 10U);
  EXPECT_EQ(p.instruction("bra").diverged, 1U);
  EXPECT_EQ(p.instruction("xor.b32").executions, 1U);
  EXPECT_EQ(p.instruction("xor.b32").threads, 22U);
  EXPECT_EQ(p.instruction("not.b32").executions, 1U); // together again
  EXPECT_EQ(p.instruction("not.b32").threads, 32U);
}

TEST(Profile, a_guard_leaves_lanes_out_but_not_the_instruction) {
  // Eight lanes store 32 bytes; a warp none of whose lanes is below 8 still issues it.
  const Profiled p =
      profile("setp.lt.u32 %p0, %r0, 8;\n @%p0 st.global.u32 [%rd1], %r0;\n ret;", 1, 64);
  const InstructionCounts& store = p.instruction("st.global.u32");
  EXPECT_EQ(store.executions, 2U);
  EXPECT_EQ(store.threads, 8U);
  EXPECT_EQ(p.access("st.global.u32").requests, 1U);
  EXPECT_EQ(p.access("st.global.u32").sectors, 1U);
}

TEST(Profile, loops_count_every_turn) {
  // 7 turns x 2 warps.
  const Profiled p = profile("mov.u32 %r5, 0;\nLOOP: add.u32 %r5, %r5, 1;\n"
                             "setp.lt.u32 %p0, %r5, 7;\n @%p0 bra LOOP;\n ret;",
                             1, 64);
  EXPECT_EQ(p.instruction("setp.lt.u32").executions, 14U);
  EXPECT_EQ(p.instruction("bra").threads, 6U * 64U); // the last turn takes no branch
}

TEST(Profile, the_second_read_hits_unless_it_asks_for_l2) {
  const Profiled p = profile("ld.global.u32 %r5, [%rd1];\n ld.global.s32 %r6, [%rd1];\n"
                             "ld.global.cg.u32 %r7, [%rd1];\n ret;",
                             1, 32);
  EXPECT_EQ(p.access("ld.global.u32").l1_hits, 0U);
  EXPECT_EQ(p.access("ld.global.s32").l1_hits, 4U);
  EXPECT_EQ(p.access("ld.global.cg.u32").l1_hits, 0U);
  ASSERT_EQ(p.counts.blocks.size(), 1U);
  EXPECT_EQ(p.counts.blocks[0].global_sectors, 8U); // of 12, 4 hit
}

TEST(Profile, what_does_not_fit_l1_is_read_again) {
  // Two passes over 64 KiB through 32 KiB of L1: nothing of the first is left for the second.
  const Profiled p =
      profile("mov.u32 %r5, 0;\n"
              "AGAIN: mov.u32 %r6, 0;\n add.u64 %rd3, %rd0, 0;\n"
              "mul.wide.u32 %rd4, %r0, 4;\n add.u64 %rd3, %rd3, %rd4;\n"
              "PASS: ld.global.u32 %r7, [%rd3];\n add.u64 %rd3, %rd3, 128;\n"
              "add.u32 %r6, %r6, 1;\n setp.lt.u32 %p0, %r6, 512;\n @%p0 bra PASS;\n"
              "add.u32 %r5, %r5, 1;\n setp.lt.u32 %p1, %r5, 2;\n @%p1 bra AGAIN;\n ret;",
              1, 32);
  EXPECT_EQ(p.access("ld.global.u32").sectors, 4096U);
  EXPECT_EQ(p.access("ld.global.u32").l1_hits, 0U);
}

TEST(Profile, local_memory_is_interleaved_over_the_lanes) {
  // Lane i's word at one offset is word i of a line: 4 sectors.
  MachineOptions options;
  options.profile_l1_bytes = kL1;
  Bench bench(header() +
                  ".visible .entry k() {\n .local .align 4 .b8 stack[64];\n .reg .b32 %r<4>;\n"
                  " mov.u32 %r0, %tid.x;\n st.local.u32 [stack+8], %r0;\n ret;\n}\n",
              options);
  const LaunchResult result = bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters());
  ASSERT_TRUE(result.counts.has_value());
  const Profiled local{*result.counts};
  EXPECT_EQ(local.access("st.local.u32").sectors, 4U);
  EXPECT_EQ(local.access("st.local.u32").space, MemorySpace::local);
}

TEST(Profile, a_last_warp_of_eight_lanes) {
  // 40 threads: warps of 32 and 8 lanes; 4 + 1 sectors.
  const Profiled p = profile("st.global.u32 [%rd1], %r0;\n ret;", 1, 40);
  EXPECT_EQ(p.access("st.global.u32").requests, 2U);
  EXPECT_EQ(p.access("st.global.u32").threads, 40U);
  EXPECT_EQ(p.access("st.global.u32").sectors, 5U);
}

TEST(Profile, constants_are_served_word_by_word) {
  // All lanes read one word, then each its own.
  const Profiled p =
      profile("mov.u64 %rd5, table;\n ld.const.u32 %r5, [%rd5];\n mul.wide.u32 %rd6, %r0, 4;\n"
              "add.u64 %rd5, %rd5, %rd6;\n ld.const.s32 %r6, [%rd5];\n ret;",
              1, 32, ".const .align 4 .u32 table[32];");
  EXPECT_EQ(p.access("ld.const.u32").wavefronts, 1U);
  EXPECT_EQ(p.access("ld.const.s32").wavefronts, 32U);
  EXPECT_EQ(p.access("ld.const.s32").space, MemorySpace::constant);
}

TEST(Profile, neighbours_share_what_they_both_read) {
  // Every block reads the first 128 bytes and writes 128 of its own.
  const Profiled p = profile(strided(4) + "ld.global.u32 %r5, [%rd2];\n"
                                          "st.global.u32 [%rd1], %r5;\n ret;",
                             8, 32);
  ASSERT_EQ(p.counts.footprints.size(), 1U);
  const FootprintCounts& f = p.counts.footprints[0];
  EXPECT_EQ(f.buffer, "out");
  EXPECT_DOUBLE_EQ(f.read_sectors, 4);
  EXPECT_DOUBLE_EQ(f.write_sectors, 4);
  EXPECT_DOUBLE_EQ(f.read_overlap[0].value_or(-1), 1);
  EXPECT_DOUBLE_EQ(f.write_overlap[0].value_or(-1), 0);
  EXPECT_FALSE(f.read_overlap[1].has_value()); // the grid has one row
}

TEST(Profile, half_a_halo_is_half_an_overlap) {
  // Blocks of 32 threads read 64 words from 32 x block on: the second half is the neighbour's
  // first.
  const Profiled p =
      profile("ld.global.u32 %r5, [%rd1];\n ld.global.u32 %r6, [%rd1+128];\n ret;", 6, 32);
  EXPECT_DOUBLE_EQ(p.counts.footprints.at(0).read_overlap[0].value_or(-1), 0.5);
}

TEST(Profile, an_asynchronous_copy_reads_global_and_writes_shared) {
  const Profiled p =
      profile("mov.u32 %r10, tile;\n mad.lo.u32 %r11, %r0, 16, %r10;\n" + strided(16) +
                  "cp.async.cg.shared.global [%r11], [%rd2], 16;\n cp.async.wait_all;\n ret;",
              1, 32, ".shared .align 16 .b8 tile[512];");
  const auto found = std::find_if(p.counts.instructions.begin(), p.counts.instructions.end(),
                                  [](const InstructionCounts& i) {
                                    return i.opcode.starts_with("cp.async") && !i.accesses.empty();
                                  });
  ASSERT_NE(found, p.counts.instructions.end());
  ASSERT_EQ(found->accesses.size(), 2U);
  EXPECT_EQ(found->accesses[0].space, MemorySpace::global);
  EXPECT_EQ(found->accesses[0].sectors, 16U);
  EXPECT_EQ(found->accesses[1].space, MemorySpace::shared);
  EXPECT_EQ(found->accesses[1].wavefronts, 4U);
}

TEST(Profile, counts_are_the_same_every_time_and_survive_the_way_through_text) {
  const std::string body = strided(20) + "ld.global.u32 %r5, [%rd2];\n bar.sync 0;\n"
                                         "st.global.u32 [%rd1], %r5;\n ret;";
  const LaunchCounts first = profile(body, 5, 96).counts;
  EXPECT_EQ(first, profile(body, 5, 96).counts);
  const auto again = launch_counts_from_json(to_json(first));
  ASSERT_TRUE(again.has_value()) << format_error(again.error());
  EXPECT_EQ(*again, first);
}

TEST(Profile, only_the_chosen_blocks_are_counted) {
  MachineOptions options;
  options.profile_l1_bytes = kL1;
  Bench bench(kernel("st.global.u32 [%rd1], %r0;\n ret;"), options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(65536));
  LaunchConfig config;
  config.kernel = "k";
  config.grid = {100, 1, 1};
  config.block = {32, 1, 1};
  config.parameters = Parameters().add(out).bytes();
  config.only_blocks = {7, 8, 99};
  const LaunchResult result = bench.machine.launch(*bench.program, config);
  ASSERT_TRUE(result.counts.has_value());
  std::vector<std::uint64_t> blocks;
  for (const BlockCounts& block : result.counts->blocks)
    blocks.push_back(block.block);
  EXPECT_THAT(blocks, ::testing::ElementsAre(7, 8, 99));
  EXPECT_EQ(Profiled{*result.counts}.access("st.global.u32").requests, 3U);
}

LaunchConfig uneven_launch(DevicePointer out) {
  LaunchConfig config;
  config.kernel = "k";
  config.grid = {64, 1, 1};
  config.block = {32, 1, 1};
  config.parameters = Parameters().add(out).bytes();
  return config;
}

// Every lane of block n adds one to out[0] n times and stores something elsewhere.
const char* const kUneven = "mov.u32 %r5, %ctaid.x;\n"
                            "again:\n"
                            "setp.eq.u32 %p1, %r5, 0;\n"
                            "@%p1 bra end;\n"
                            "sub.u32 %r5, %r5, 1;\n"
                            "atom.global.add.u32 %r6, [%rd0], 1;\n"
                            "bra again;\n"
                            "end:\n"
                            "st.global.u32 [%rd1+4096], %r0;\n"
                            "ret;";

TEST(Profile, all_blocks_are_tallied_by_either_tier_alike) {
  std::array<std::vector<BlockTally>, 2> tallies;
  for (const Tier tier : {Tier::interpreter, Tier::compiled}) {
    MachineOptions options;
    options.tier = tier;
    Bench bench(kernel(kUneven), options);
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(65536));
    LaunchConfig config = uneven_launch(out);
    auto& mine = tallies.at(tier == Tier::compiled ? 1 : 0);
    mine.resize(64);
    config.tallies = mine;
    const LaunchResult result = bench.machine.launch(*bench.program, config);
    ASSERT_FALSE(result.fault.has_value()) << fault_text(result);
    std::uint64_t sum = 0;
    for (const BlockTally& tally : mine)
      sum += tally.warp_instructions;
    EXPECT_EQ(sum, result.statistics.warp_instructions);
    // Block n goes round n times, with an atomic of 32 lanes each time, and stores once.
    for (std::size_t n = 0; n < mine.size(); ++n) {
      EXPECT_EQ(mine[n].atomics, 32 * n);
      EXPECT_EQ(mine[n].sectors, 4U);
      EXPECT_EQ(mine[n].warp_instructions - mine[0].warp_instructions,
                n * (mine[1].warp_instructions - mine[0].warp_instructions));
    }
  }
  EXPECT_EQ(tallies[0], tallies[1]);
}

TEST(Profile, blocks_in_company_count_alone_and_as_often_as_their_weights_say) {
  MachineOptions options;
  options.profile_l1_bytes = kL1;
  Bench bench(kernel(kUneven), options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(65536));
  LaunchConfig config = uneven_launch(out);
  config.counted = {{3, 10}, {60, 2.5}};
  const LaunchResult result = bench.machine.launch(*bench.program, config);
  ASSERT_TRUE(result.counts.has_value()) << fault_text(result);
  const Profiled p{*result.counts};
  EXPECT_EQ(p.counts.blocks.size(), 2U);
  EXPECT_DOUBLE_EQ(p.counts.represented(), 12.5);
  EXPECT_EQ(p.instruction("atom.global.add.u32").executions, 3 * 10 + 60 * 5 / 2);
  EXPECT_EQ(p.access("st.global.u32").requests, 13U); // 10 and 2.5, each rounded
  // The others ran, too.
  EXPECT_EQ(result.statistics.blocks_run, 64U);
  EXPECT_EQ(bench.content<std::uint32_t>(out).at(0), 32U * (63U * 64U / 2U));
}

TEST(Profile, counting_ends_where_it_is_told_and_the_launch_goes_on) {
  const auto run = [](std::uint64_t most) {
    Bench bench(kernel(kUneven), {});
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(65536));
    LaunchConfig config = uneven_launch(out);
    config.profile_l1_bytes = kL1; // of this launch alone
    config.counted = {{3, 1}, {60, 1}, {61, 1}};
    config.most_counted = most;
    const LaunchResult result = bench.machine.launch(*bench.program, config);
    EXPECT_FALSE(result.fault.has_value()) << fault_text(result);
    EXPECT_EQ(bench.content<std::uint32_t>(out).at(0), 32U * (63U * 64U / 2U));
    config.profile_l1_bytes.reset();
    config.counted.clear();
    EXPECT_FALSE(bench.machine.launch(*bench.program, config).counts.has_value());
    std::uint64_t sum = 0;
    for (const BlockCounts& block : result.counts->blocks)
      sum += block.warp_instructions;
    return sum;
  };
  const std::uint64_t all = run(0);
  const std::uint64_t half = run(all / 2);
  EXPECT_GE(half, all / 2);
  EXPECT_LT(half, all * 3 / 4);
  EXPECT_EQ(run(2 * all), all);
}

} // namespace
} // namespace kernevo::vgpu::testing
