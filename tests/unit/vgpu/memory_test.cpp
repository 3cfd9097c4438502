#include "harness.h"

namespace kernevo::vgpu::testing {
namespace {

MachineOptions sanitizing() {
  MachineOptions options;
  options.sanitize = true;
  return options;
}

struct Ran {
  LaunchResult result;
  std::vector<std::uint32_t> out;
};

Ran run_kernel(const std::string& ptx, std::uint32_t threads = 32, MachineOptions options = {},
               std::uint32_t blocks = 1, std::uint32_t dynamic_shared = 0,
               AllocationOptions allocation = {}) {
  Bench bench(ptx, options);
  const auto out =
      bench.buffer("C", std::vector<std::uint32_t>(std::size_t{threads} * blocks), allocation);
  Ran ran;
  ran.result =
      bench.launch("k", {blocks, 1, 1}, {threads, 1, 1}, Parameters().add(out), dynamic_shared);
  ran.out = bench.content<std::uint32_t>(out);
  return ran;
}

TEST(Memory, OutOfBoundsStoreNamesBufferAndThread) {
  for (const bool sanitize : {false, true}) {
    MachineOptions options;
    options.sanitize = sanitize;
    const Ran ran = run_kernel(kernel("st.global.u32 [%rd1+4], %r0;\n ret;"), 64, options);
    EXPECT_FAULT(ran.result, out_of_bounds);
    EXPECT_EQ(ran.result.fault->thread[0], 63U);
    EXPECT_EQ(ran.result.fault->space, "global");
    EXPECT_EQ(ran.result.fault->size, 4U);
    EXPECT_NE(ran.result.fault->message.find(
                  "store of 4 bytes at C + 256, 0 bytes past its end of 256 bytes"),
              std::string::npos)
        << ran.result.fault->message;
    EXPECT_EQ(ran.result.fault->kernel, "k");
    EXPECT_GT(ran.result.fault->ptx_line, 0);
  }
}

TEST(Memory, BeforeTheStart) {
  const Ran ran = run_kernel(kernel("ld.global.u32 %r10, [%rd1+-4];\n ret;"));
  EXPECT_FAULT(ran.result, out_of_bounds);
  EXPECT_NE(ran.result.fault->message.find("before its first byte"), std::string::npos);
}

TEST(Memory, NullAndWildPointers) {
  EXPECT_FAULT(run_kernel(kernel("mov.u64 %rd5, 0;\n ld.global.u32 %r10, [%rd5+8];\n ret;")).result,
               null_pointer);
  const Ran wild = run_kernel(kernel("mov.u64 %rd5, 0x123456780000;\n st.u32 [%rd5], 1;\n ret;"));
  EXPECT_FAULT(wild.result, out_of_bounds);
  EXPECT_NE(wild.result.fault->message.find("not inside any allocation; nearest is 'C'"),
            std::string::npos)
      << wild.result.fault->message;
}

TEST(Memory, Misaligned) {
  EXPECT_FAULT(run_kernel(kernel("ld.global.u32 %r10, [%rd0+2];\n ret;")).result, misaligned);
  EXPECT_FAULT(
      run_kernel(kernel("ld.global.v4.u32 {%r10,%r11,%r12,%r13}, [%rd0+8];\n ret;")).result,
      misaligned);
  EXPECT_FAULT(run_kernel(kernel("mov.u32 %r9, tile;\n ld.shared.u64 %rd5, [%r9+4];\n ret;",
                                 ".shared .align 8 .b8 tile[64];\n"))
                   .result,
               misaligned);
}

// Lanes at one distance whose last one wraps around into the buffer: 31 * step = 8 modulo 2^64.
TEST(Memory, WrappingStridesAreNotMistakenForOneInterval) {
  std::uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i)
    inverse *= 2 - 31 * inverse;
  ASSERT_EQ(31 * inverse, 1U);
  const std::string step = std::to_string(static_cast<std::int64_t>(8 * inverse));
  EXPECT_FAULT(run_kernel(kernel("mov.u64 %rd5, " + step + R"(;
    cvt.u64.u32 %rd6, %r0;
    mul.lo.u64 %rd6, %rd6, %rd5;
    add.u64 %rd6, %rd6, %rd0;
    ld.global.u32 %r10, [%rd6];
    ret;)"))
                   .result,
               out_of_bounds);
  // Some lanes at the top of the address space, where address + size wraps to zero.
  EXPECT_FAULT(run_kernel(kernel(R"(
    mov.u64 %rd5, -4;
    setp.eq.u32 %p0, %r0, 1;
    selp.u64 %rd6, %rd5, %rd1, %p0;
    setp.lt.u32 %p1, %r0, 5;
    @%p1 ld.global.u32 %r10, [%rd6];
    ret;)"))
                   .result,
               out_of_bounds);
}

TEST(Memory, ReadOnlyBuffers) {
  AllocationOptions read_only;
  read_only.read_only = true;
  const Ran ran = run_kernel(kernel("st.global.u32 [%rd1], 1;\n ret;"), 32, {}, 1, 0, read_only);
  EXPECT_FAULT(ran.result, read_only_write);
  EXPECT_EQ(ran.result.fault->buffer, "C");
}

TEST(Memory, ConstantVariablesAreReadOnlyAndInitialised) {
  const std::string table = ".const .align 4 .b32 table[4] = {10, 20, 30, 40};\n";
  const Ran ran = run_kernel(kernel(R"(
    and.b32 %r10, %r0, 3;
    mul.wide.u32 %rd5, %r10, 4;
    mov.u64 %rd6, table;
    add.u64 %rd6, %rd6, %rd5;
    ld.const.u32 %r11, [%rd6];
    ld.const.u32 %r12, [table+12];
    add.u32 %r11, %r11, %r12;
    st.global.u32 [%rd1], %r11;
    ret;)",
                                    table));
  ASSERT_RUNS(ran.result);
  EXPECT_EQ(ran.out[2], 70U);
  EXPECT_FAULT(
      run_kernel(
          kernel("mov.u64 %rd6, table;\n cvta.const.u64 %rd6, %rd6;\n st.u32 [%rd6], 1;\n ret;",
                 table))
          .result,
      read_only_write);
}

TEST(Memory, GlobalVariablesKeepTheirValueBetweenLaunches) {
  Bench bench(
      kernel(R"(
    atom.global.add.u32 %r10, [counter], 1;
    ld.global.u64 %rd5, [link];
    ld.global.u32 %r11, [%rd5];
    st.global.u32 [%rd1], %r10;
    ret;)",
             ".global .align 4 .u32 counter = 5;\n.global .align 8 .u64 link = counter;\n"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_RUNS(bench.launch("k", {1, 1, 1}, {1, 1, 1}, Parameters().add(out)));
    EXPECT_EQ(bench.content<std::uint32_t>(out)[0], 5 + i);
  }
}

TEST(Memory, SharedBoundsAndDynamicShared) {
  const std::string variables =
      ".shared .align 4 .b8 fixed[100];\n.extern .shared .align 16 .b8 dynamic[];\n";
  const std::string body = R"(
    mov.u32 %r9, fixed;
    st.shared.u32 [%r9], 3;
    mov.u32 %r10, dynamic;
    shl.b32 %r11, %r0, 2;
    add.u32 %r11, %r10, %r11;
    st.shared.u32 [%r11], %r0;
    ld.shared.u32 %r12, [%r11];
    add.u32 %r12, %r12, %r10;
    st.global.u32 [%rd1], %r12;
    ret;)";
  const Ran good = run_kernel(kernel(body, variables), 32, {}, 1, 128);
  ASSERT_RUNS(good.result);
  EXPECT_EQ(good.out[5], 5U + 112U);
  const Ran bad = run_kernel(kernel(body, variables), 32, {}, 1, 64);
  EXPECT_FAULT(bad.result, out_of_bounds);
  EXPECT_EQ(bad.result.fault->thread[0], 16U);
  EXPECT_EQ(bad.result.fault->space, "shared");
}

TEST(Memory, UninitialisedSharedRead) {
  const std::string ptx = kernel(R"(
    mov.u32 %r10, tile;
    shl.b32 %r11, %r0, 2;
    add.u32 %r10, %r10, %r11;
    setp.lt.u32 %p0, %r0, 7;
    @%p0 st.shared.u32 [%r10], %r0;
    ld.shared.u32 %r12, [%r10];
    ret;)",
                                 ".shared .align 4 .b8 tile[128];\n");
  const Ran ran = run_kernel(ptx, 32, sanitizing());
  EXPECT_FAULT(ran.result, uninitialized_read);
  EXPECT_EQ(ran.result.fault->thread[0], 7U);
  EXPECT_NE(ran.result.fault->message.find("'tile' + 28"), std::string::npos)
      << ran.result.fault->message;
  ASSERT_RUNS(run_kernel(ptx).result);
}

TEST(Memory, UninitialisedGlobalRead) {
  AllocationOptions raw;
  raw.initialized = false;
  const Ran ran =
      run_kernel(kernel("ld.global.u32 %r10, [%rd1];\n st.global.u32 [%rd1], %r10;\n ret;"), 32,
                 sanitizing(), 1, 0, raw);
  EXPECT_FAULT(ran.result, uninitialized_read);
}

TEST(Memory, WrittenMapAndPoison) {
  for (const bool sanitize : {false, true}) {
    MachineOptions options;
    options.sanitize = sanitize;
    Bench bench(kernel("setp.lt.u32 %p0, %r0, 3;\n @%p0 st.global.u32 [%rd1], 7;\n ret;"), options);
    AllocationOptions raw;
    raw.initialized = false;
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(8), raw);
    ASSERT_RUNS(bench.launch("k", {1, 1, 1}, {8, 1, 1}, Parameters().add(out)));
    const auto written = bench.machine.written(out);
    ASSERT_EQ(written.size(), 32U);
    EXPECT_EQ(written[11], 1);
    EXPECT_EQ(written[12], 0);
    EXPECT_EQ(bench.content<std::uint32_t>(out)[3], 0xFFFFFFFFU);
  }
}

TEST(Memory, GlobalRaceBetweenBlocks) {
  const Ran ran = run_kernel(kernel("st.global.u32 [%rd0], %r3;\n ret;"), 1, sanitizing(), 4);
  EXPECT_FAULT(ran.result, global_race);
  const Ran atomics =
      run_kernel(kernel("red.global.add.u32 [%rd0], %r3;\n ret;"), 32, sanitizing(), 4);
  ASSERT_RUNS(atomics.result);
  EXPECT_EQ(atomics.out[0], 127U * 128U / 2);
}

TEST(Memory, GenericAddressesReachEverySpace) {
  const Ran ran = run_kernel(kernel(R"(
    .local .align 4 .b8 mine[8];
    mov.u64 %rd5, tile;
    cvta.shared.u64 %rd5, %rd5;
    mul.wide.u32 %rd6, %r0, 4;
    add.u64 %rd5, %rd5, %rd6;
    st.u32 [%rd5], %r0;
    mov.u64 %rd7, mine;
    cvta.local.u64 %rd7, %rd7;
    add.u32 %r10, %r0, 1000;
    st.u32 [%rd7+4], %r10;
    isspacep.shared %p0, %rd5;
    isspacep.local %p1, %rd7;
    isspacep.global %p2, %rd0;
    and.pred %p0, %p0, %p1;
    and.pred %p0, %p0, %p2;
    selp.u32 %r13, 100000, 0, %p0;
    ld.u32 %r11, [%rd5];
    ld.u32 %r12, [%rd7+4];
    add.u32 %r11, %r11, %r12;
    add.u32 %r11, %r11, %r13;
    st.u32 [%rd1], %r11;
    ret;)",
                                    ".shared .align 4 .b8 tile[128];\n"));
  ASSERT_RUNS(ran.result);
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(ran.out[t], 101000 + 2 * t);
}

TEST(Memory, LocalArraysAreBounded) {
  EXPECT_FAULT(run_kernel(kernel(R"(
    .local .align 4 .b8 mine[16];
    mov.u64 %rd5, mine;
    shl.b32 %r10, %r0, 2;
    cvt.u64.u32 %rd6, %r10;
    add.u64 %rd5, %rd5, %rd6;
    st.local.u32 [%rd5], %r0;
    ret;)"))
                   .result,
               out_of_bounds);
}

TEST(Memory, NarrowLoadsExtend) {
  Bench bench(kernel(R"(
    ld.global.s8 %r10, [%rd0];
    ld.global.u8 %r11, [%rd0];
    ld.global.s16 %r12, [%rd0];
    ld.global.s8 %h1, [%rd0];
    cvt.s32.s16 %r13, %h1;
    ld.global.v2.u16 {%r14, %r15}, [%rd0];
    st.global.v4.u32 [%rd0+16], {%r10, %r11, %r12, %r13};
    st.global.v2.u32 [%rd0+32], {%r14, %r15};
    st.global.u8 [%rd0+40], %r12;
    ret;)"));
  const auto out =
      bench.buffer("out", std::vector<std::uint32_t>{0x8001FF85U, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_RUNS(bench.launch("k", {1, 1, 1}, {1, 1, 1}, Parameters().add(out)));
  const auto content = bench.content<std::uint32_t>(out);
  EXPECT_EQ(content[4], 0xFFFFFF85U);
  EXPECT_EQ(content[5], 0x85U);
  EXPECT_EQ(content[6], 0xFFFFFF85U);
  EXPECT_EQ(content[7], 0xFFFFFF85U);
  EXPECT_EQ(content[8], 0xFF85U);
  EXPECT_EQ(content[9], 0x8001U);
  EXPECT_EQ(content[10], 0x85U);
}

TEST(Memory, AllocationLimitAndOverlap) {
  MachineOptions options;
  options.memory_limit = 1000;
  Machine machine(small_gpu(), options);
  EXPECT_TRUE(machine.allocate(800, "a").has_value());
  EXPECT_FALSE(machine.allocate(300, "b").has_value());
  std::vector<std::byte> storage(64);
  EXPECT_TRUE(machine.adopt(storage, "c").has_value());
  EXPECT_FALSE(machine.adopt(std::span(storage).subspan(8, 8), "d").has_value());
}

TEST(Memory, AdoptedStorageIsUsedInPlace) {
  Bench bench(kernel("st.global.u32 [%rd1], %r0;\n ret;"));
  std::vector<std::uint32_t> storage(32);
  const auto pointer = bench.machine.adopt(std::as_writable_bytes(std::span(storage)), "mine");
  ASSERT_TRUE(pointer.has_value());
  ASSERT_RUNS(bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(*pointer)));
  EXPECT_EQ(storage[31], 31U);
}

struct AtomicCase {
  const char* instruction; // on [%rd0] with %r0 (thread 0..31), old value in %r10
  std::uint32_t initial;
  std::uint32_t expected;
};

TEST(Atomic, IntegerOperations) {
  const AtomicCase cases[] = {
      {"atom.global.add.u32 %r10, [%rd0], %r0;", 7, 7 + 496},
      {"atom.global.min.s32 %r10, [%rd0], %r0;", 9, 0},
      {"atom.global.max.s32 %r10, [%rd0], %r0;", 0xFFFFFFF0U, 31},
      {"atom.global.max.u32 %r10, [%rd0], %r0;", 0xFFFFFFF0U, 0xFFFFFFF0U},
      {"atom.global.and.b32 %r10, [%rd0], %r0;", 0xFF, 0},
      {"atom.global.or.b32 %r10, [%rd0], %r0;", 0x100, 0x11F},
      {"atom.global.xor.b32 %r10, [%rd0], %r0;", 5, 5},
      {"atom.global.exch.b32 %r10, [%rd0], %r0;", 5, 31},
      {"atom.global.inc.u32 %r10, [%rd0], 9;", 0, 2},
      {"atom.global.dec.u32 %r10, [%rd0], 9;", 0, 8},
      {"atom.global.cas.b32 %r10, [%rd0], %r0, 100;", 3, 100},
      {"red.global.add.s32 [%rd0], %r0;", 1, 497},
      {"red.relaxed.gpu.global.add.u32 [%rd0], 2;", 1, 65},
  };
  for (const AtomicCase& test : cases) {
    Bench bench(kernel(std::string(test.instruction) + "\n ret;"));
    const auto out = bench.buffer("out", std::vector<std::uint32_t>{test.initial});
    ASSERT_RUNS(bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(out)));
    EXPECT_EQ(bench.content<std::uint32_t>(out)[0], test.expected) << test.instruction;
  }
}

TEST(Atomic, FloatsAndHalves) {
  Bench bench(kernel(R"(
    mov.f32 %f1, 0f3F000000;
    atom.global.add.f32 %f2, [%rd0], %f1;
    mov.f64 %fd1, 0d3FE0000000000000;
    red.global.add.f64 [%rd0+8], %fd1;
    mov.u32 %r10, 0x3C003800;
    atom.global.add.noftz.f16x2 %r11, [%rd0+16], %r10;
    mov.b16 %h1, 0x3C00;
    atom.global.add.noftz.f16 %h2, [%rd0+20], %h1;
    ret;)"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(6));
  ASSERT_RUNS(bench.launch("k", {2, 1, 1}, {32, 1, 1}, Parameters().add(out)));
  const auto bytes = bench.machine.bytes(out);
  float single = 0;
  double real = 0;
  std::uint32_t pair = 0;
  std::uint16_t half = 0;
  std::memcpy(&single, bytes.data(), 4);
  std::memcpy(&real, bytes.data() + 8, 8);
  std::memcpy(&pair, bytes.data() + 16, 4);
  std::memcpy(&half, bytes.data() + 20, 2);
  EXPECT_EQ(single, 32.0F);
  EXPECT_EQ(real, 32.0);
  EXPECT_EQ(pair, 0x54005000U);
  EXPECT_EQ(half, 0x5400U);
}

TEST(Atomic, ManyBlocksOnManyCores) {
  MachineOptions options;
  options.cores = 4;
  const Ran ran = run_kernel(kernel("red.global.add.u32 [%rd0], 1;\n ret;"), 64, options, 200);
  ASSERT_RUNS(ran.result);
  EXPECT_EQ(ran.out[0], 12800U);
  EXPECT_EQ(ran.result.statistics.blocks_run, 200U);
}

} // namespace
} // namespace kernevo::vgpu::testing
