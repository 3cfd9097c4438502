#include "harness.h"

namespace kernevo::vgpu::testing {
namespace {

LaunchResult launch_plain(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                          const std::string& before = "", std::uint32_t dynamic_shared = 0,
                          std::optional<int> registers = std::nullopt, bool cooperative = false,
                          const std::string& body = "ret;") {
  Bench bench(kernel(body, before));
  bench.registers = registers;
  bench.cooperative = cooperative;
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(4));
  return bench.launch("k", grid, block, Parameters().add(out), dynamic_shared);
}

TEST(Launch, LimitsOfTheGpu) {
  EXPECT_FAULT(launch_plain({1, 1, 1}, {1025, 1, 1}), launch_limit);
  EXPECT_FAULT(launch_plain({1, 1, 1}, {1'000'000, 1, 1}), launch_limit);
  EXPECT_FAULT(launch_plain({1, 1, 1}, {0xFFFFFFFF, 0xFFFFFFFF, 2}), launch_limit);
  EXPECT_FAULT(launch_plain({1, 1, 1}, {1, 1, 65}), launch_limit);
  EXPECT_FAULT(launch_plain({1, 1, 1}, {0, 1, 1}), launch_limit);
  EXPECT_FAULT(launch_plain({0, 1, 1}, {1, 1, 1}), launch_limit);
  EXPECT_FAULT(launch_plain({1, 65536, 1}, {1, 1, 1}), launch_limit);
  EXPECT_FAULT(launch_plain({0x80000000, 1, 1}, {1, 1, 1}), launch_limit);
  EXPECT_FAULT(launch_plain({1, 1, 1}, {32, 1, 1}, "", 200'000), launch_limit);
  EXPECT_FAULT(launch_plain({1, 1, 1}, {1024, 1, 1}, "", 0, 96), launch_limit);
  ASSERT_RUNS(launch_plain({1, 1, 1}, {1024, 1, 1}, "", 0, 64));
  ASSERT_RUNS(launch_plain({1, 1, 1}, {32, 1, 1}, "", 100'000));
}

TEST(Launch, StaticSharedMemoryHasItsOwnLimit) {
  const std::string tile = ".shared .align 4 .b8 tile[60000];\n";
  EXPECT_FAULT(launch_plain({1, 1, 1}, {32, 1, 1}, tile, 0, std::nullopt, false,
                            "mov.u32 %r9, tile;\n ret;"),
               launch_limit);
  // A variable of another kernel does not count.
  ASSERT_RUNS(launch_plain({1, 1, 1}, {32, 1, 1}, tile));
}

TEST(Launch, CooperativeGridsMustFit) {
  EXPECT_FAULT(launch_plain({1000, 1, 1}, {1024, 1, 1}, "", 0, std::nullopt, true), launch_limit);
  ASSERT_RUNS(launch_plain({8, 1, 1}, {1024, 1, 1}, "", 0, std::nullopt, true));
}

TEST(Launch, ThreadBoundsOfTheKernel) {
  const std::string text = header() + ".visible .entry k() .maxntid 64, 1, 1 { ret; }\n" +
                           ".visible .entry q() .reqntid 32, 2, 1 { ret; }\n";
  Bench bench(text);
  EXPECT_FAULT(bench.launch("k", {1, 1, 1}, {65, 1, 1}, {}), launch_limit);
  ASSERT_RUNS(bench.launch("k", {1, 1, 1}, {64, 1, 1}, {}));
  EXPECT_FAULT(bench.launch("q", {1, 1, 1}, {64, 1, 1}, {}), launch_limit);
  ASSERT_RUNS(bench.launch("q", {1, 1, 1}, {32, 2, 1}, {}));
}

TEST(Launch, WrongArgumentsAndNames) {
  Bench bench(kernel("ret;"));
  EXPECT_FAULT(bench.launch("k", {1, 1, 1}, {1, 1, 1}, {}), bad_argument);
  const auto unknown = bench.launch("nope", {1, 1, 1}, {1, 1, 1}, {});
  EXPECT_FAULT(unknown, unknown_kernel);
  EXPECT_NE(unknown.fault->message.find("it has: k"), std::string::npos) << unknown.fault->message;
}

TEST(Launch, MangledNamesAreFoundByPlainName) {
  const std::string text = header() + ".visible .entry _Z6matmulPKfS0_Pfi(.param .u64 a, .param "
                                      ".u64 b, .param .u64 c, .param .u32 n) { ret; }\n"
                                      ".visible .entry _Z5scaleIfEvPT_(.param .u64 a) { ret; }\n"
                                      ".visible .entry _Z5scaleIdEvPT_(.param .u64 a) { ret; }\n";
  const auto program = load_program(text, "x.ptx");
  ASSERT_TRUE(program.has_value()) << format_error(program.error());
  const auto kernel_info = find_kernel(**program, "matmul");
  ASSERT_TRUE(kernel_info.has_value());
  EXPECT_EQ(kernel_info->name, "_Z6matmulPKfS0_Pfi");
  EXPECT_EQ(kernel_info->demangled, "matmul");
  EXPECT_EQ(kernel_info->parameter_bytes, 28U);
  EXPECT_EQ(kernel_info->parameters[3].offset, 24U);
  EXPECT_FALSE(find_kernel(**program, "scale").has_value());
  EXPECT_TRUE(find_kernel(**program, "_Z5scaleIdEvPT_").has_value());
  EXPECT_EQ(kernels_of(**program).size(), 3U);
}

TEST(Launch, InstructionBudgetStopsEndlessLoops) {
  MachineOptions options;
  options.instruction_budget = 1'000'000;
  Bench bench(kernel("LOOP: bra LOOP;"), options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
  EXPECT_FAULT(bench.launch("k", {10, 1, 1}, {64, 1, 1}, Parameters().add(out)),
               instruction_budget);
}

// A compilation takes tens of milliseconds, so these exits fall before, into and after it.
TEST(LaunchDeathTest, AProcessMayExitWhileItsKernelIsCompiled) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (std::uint64_t budget = 500'000; budget <= 12'000'000; budget += 500'000)
    EXPECT_EXIT(
        {
          MachineOptions options;
          options.instruction_budget = budget;
          Bench bench(kernel("LOOP: bra LOOP;"), options);
          const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
          bench.launch("k", {10, 1, 1}, {64, 1, 1}, Parameters().add(out));
          std::exit(0); // NOLINT(concurrency-mt-unsafe)
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(Launch, TimeLimitStopsEndlessLoops) {
  MachineOptions options;
  options.seconds = 0.2;
  Bench bench(kernel("LOOP: add.u32 %r5, %r5, 1;\n bra LOOP;"), options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
  EXPECT_FAULT(bench.launch("k", {10, 1, 1}, {64, 1, 1}, Parameters().add(out)), time_limit);
}

TEST(Launch, TrapIsAFault) {
  Bench bench(kernel("setp.eq.u32 %p0, %r0, 3;\n @%p0 trap;\n ret;"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(1));
  const auto result = bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(out));
  EXPECT_FAULT(result, trap);
  EXPECT_EQ(result.fault->thread[0], 3U);
}

TEST(Launch, OnlyChosenBlocksRun) {
  Bench bench(kernel("st.global.u32 [%rd1], 1;\n ret;"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(6));
  LaunchConfig config;
  config.kernel = "k";
  config.grid = {3, 2, 1};
  config.block = {1, 1, 1};
  config.parameters = Parameters().add(out).bytes();
  config.only_blocks = {2, 0};
  const auto result = bench.machine.launch(*bench.program, config);
  ASSERT_RUNS(result);
  EXPECT_EQ(result.statistics.blocks_run, 2U);
  EXPECT_EQ(bench.content<std::uint32_t>(out), (std::vector<std::uint32_t>{1, 0, 1, 0, 0, 0}));
  config.only_blocks = {6};
  EXPECT_FAULT(bench.machine.launch(*bench.program, config), launch_limit);
}

// Each block waits for what the next one leaves, and the last for nobody.
std::string waits_for_later_blocks() {
  // %rd5 = &out[block + 1], %rd6 = &out[block]
  return kernel(R"(
    mul.wide.u32 %rd6, %r1, 4;
    add.u64 %rd6, %rd0, %rd6;
    add.u64 %rd5, %rd6, 4;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra END;
    mov.u32 %r10, %nctaid.x;
    add.u32 %r11, %r1, 1;
    mov.u32 %r12, 0;
    setp.eq.u32 %p0, %r11, %r10;
    @%p0 bra PUBLISH;
WAIT:
    ld.volatile.global.u32 %r12, [%rd5];
    setp.eq.u32 %p0, %r12, 0;
    @%p0 bra WAIT;
PUBLISH:
    add.u32 %r12, %r12, 1;
    membar.gl;
    st.volatile.global.u32 [%rd6], %r12;
END:
    ret;)");
}

// Blocks wait for a later block's flag: they must all be resident.
TEST(Grid, BlocksThatWaitForLaterOnesProgress) {
  for (const int cores : {1, 3}) {
    MachineOptions options;
    options.cores = cores;
    Bench bench(waits_for_later_blocks(), options);
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(20));
    const auto result = bench.launch("k", {20, 1, 1}, {64, 1, 1}, Parameters().add(out));
    ASSERT_RUNS(result);
    EXPECT_EQ(bench.content<std::uint32_t>(out)[0], 20U);
  }
}

// Of more blocks than the GPU holds at once, the later ones start when earlier ones have ended.
TEST(Grid, BlocksThatCannotStartAreWaitedForInVain) {
  for (const bool sanitize : {false, true})
    for (const std::uint32_t blocks : {16U, 17U}) {
      MachineOptions options;
      options.sanitize = sanitize;
      options.instruction_budget = 8'000'000;
      Bench bench(waits_for_later_blocks(), options);
      const auto out = bench.buffer("out", std::vector<std::uint32_t>(blocks));
      const auto result =
          bench.launch("k", {blocks, 1, 1}, {32, 1, 1}, Parameters().add(out), 40960);
      if (blocks == 16) {
        ASSERT_RUNS(result);
        EXPECT_EQ(bench.content<std::uint32_t>(out)[0], blocks);
        continue;
      }
      EXPECT_FAULT(result, deadlock);
      EXPECT_NE(result.fault->message.find("holds 16 of its 17 blocks"), std::string::npos)
          << result.fault->message;
    }
}

TEST(Grid, CooperativeBarrier) {
  for (const bool sanitize : {false, true}) {
    MachineOptions options;
    options.sanitize = sanitize;
    Bench bench(kernel(R"(
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra SYNC;
    mov.u32 %r10, %nctaid.x;
    membar.gl;
    atom.global.add.u32 %r11, [%rd0], 1;
WAIT:
    ld.acquire.gpu.global.u32 %r12, [%rd0];
    setp.lt.u32 %p0, %r12, %r10;
    @%p0 bra WAIT;
SYNC:
    bar.sync 0;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra END;
    ld.volatile.global.u32 %r13, [%rd0];
    mul.wide.u32 %rd6, %r1, 4;
    add.u64 %rd6, %rd0, %rd6;
    st.global.u32 [%rd6+4], %r13;
END:
    ret;)"),
                options);
    bench.cooperative = true;
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(9));
    const auto result = bench.launch("k", {8, 1, 1}, {64, 1, 1}, Parameters().add(out));
    ASSERT_RUNS(result);
    for (const std::uint32_t seen : bench.content<std::uint32_t>(out))
      EXPECT_EQ(seen, 8U);
  }
}

TEST(Grid, SpecialRegisters) {
  Bench bench(kernel(R"(
    mov.u32 %r10, %tid.y;
    mov.u32 %r11, %tid.z;
    mov.u32 %r12, %ctaid.y;
    mov.u32 %r13, %laneid;
    mov.u32 %r14, %warpid;
    mov.u32 %r15, %lanemask_lt;
    mov.u32 %r16, %tid.x;
    mov.u32 %r20, %ntid.x;
    mov.u32 %r21, %ntid.y;
    mad.lo.u32 %r17, %r11, %r21, %r10;
    mad.lo.u32 %r17, %r17, %r20, %r16;
    mad.lo.u32 %r18, %r14, 32, %r13;
    setp.ne.u32 %p0, %r17, %r18;
    @%p0 trap;
    popc.b32 %r19, %r15;
    setp.ne.u32 %p0, %r19, %r13;
    @%p0 trap;
    setp.ne.u32 %p0, %r12, 1;
    @%p0 ret;
    mul.wide.u32 %rd5, %r17, 4;
    add.u64 %rd5, %rd0, %rd5;
    st.global.u32 [%rd5], %r11;
    ret;)"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(60));
  ASSERT_RUNS(bench.launch("k", {1, 2, 1}, {5, 4, 3}, Parameters().add(out)));
  EXPECT_EQ(bench.content<std::uint32_t>(out)[59], 2U);
}

} // namespace
} // namespace kernevo::vgpu::testing
