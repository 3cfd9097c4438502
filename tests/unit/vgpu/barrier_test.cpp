#include "harness.h"

namespace kernevo::vgpu::testing {
namespace {

const char* const kTile = ".shared .align 16 .b8 tile[4096];\n";

LaunchResult run_block(const std::string& ptx, std::uint32_t threads,
                       std::vector<std::uint32_t>* content, bool sanitize = false) {
  MachineOptions options;
  options.sanitize = sanitize;
  options.instruction_budget = 2'000'000;
  Bench bench(ptx, options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(threads));
  auto result = bench.launch("k", {1, 1, 1}, {threads, 1, 1}, Parameters().add(out));
  if (content != nullptr)
    *content = bench.content<std::uint32_t>(out);
  return result;
}

// Writes the thread number to shared memory and reads a neighbour's after `barrier`.
std::string exchange(const std::string& barrier) {
  return kernel(R"(
    mov.u64 %rd2, tile;
    cvt.u32.u64 %r10, %rd2;
    shl.b32 %r11, %r0, 2;
    add.u32 %r11, %r10, %r11;
    st.shared.u32 [%r11], %r0;
)" + barrier + R"(
    add.u32 %r12, %r0, 33;
    rem.u32 %r12, %r12, %r2;
    shl.b32 %r12, %r12, 2;
    add.u32 %r12, %r10, %r12;
    ld.shared.u32 %r13, [%r12];
    st.global.u32 [%rd1], %r13;
    ret;)",
                kTile);
}

TEST(Barrier, OrdersSharedMemory) {
  for (const bool sanitize : {false, true}) {
    std::vector<std::uint32_t> out;
    ASSERT_RUNS(run_block(exchange("bar.sync 0;"), 256, &out, sanitize));
    for (std::uint32_t t = 0; t < 256; ++t)
      EXPECT_EQ(out[t], (t + 33) % 256);
  }
}

TEST(Barrier, PartialLastWarp) {
  std::vector<std::uint32_t> out;
  ASSERT_RUNS(run_block(exchange("barrier.sync.aligned 0;"), 100, &out, true));
  for (std::uint32_t t = 0; t < 100; ++t)
    EXPECT_EQ(out[t], (t + 33) % 100);
}

TEST(Barrier, WithThreadCountOfAPartialWarp) {
  std::vector<std::uint32_t> out;
  ASSERT_RUNS(run_block(exchange("bar.sync 3, 128;"), 100, &out, true));
  EXPECT_EQ(out[99], 32U);
}

TEST(Barrier, MissingOneIsARace) {
  const auto result = run_block(exchange(""), 256, nullptr, true);
  ASSERT_TRUE(result.fault.has_value());
  // Whoever comes first: a read of what is not written yet, or a race with the writer.
  EXPECT_TRUE(result.fault->kind == FindingKind::shared_race ||
              result.fault->kind == FindingKind::uninitialized_read)
      << fault_text(result);
}

TEST(Barrier, ReductionsCountPredicates) {
  std::vector<std::uint32_t> out;
  ASSERT_RUNS(run_block(kernel(R"(
    rem.u32 %r10, %r0, 3;
    setp.eq.u32 %p0, %r10, 0;
    bar.red.popc.u32 %r11, 0, %p0;
    setp.lt.u32 %p1, %r0, 1000;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, !%p1;
    selp.u32 %r12, 1000, 0, %p2;
    selp.u32 %r13, 10000, 0, %p3;
    add.u32 %r11, %r11, %r12;
    add.u32 %r11, %r11, %r13;
    st.global.u32 [%rd1], %r11;
    ret;)"),
                        96, &out));
  EXPECT_EQ(out[0], 32U + 1000U);
  EXPECT_EQ(out[95], 32U + 1000U);
}

TEST(Barrier, ProducerArrivesConsumerWaits) {
  std::vector<std::uint32_t> out;
  ASSERT_RUNS(run_block(kernel(R"(
    mov.u64 %rd2, tile;
    cvt.u32.u64 %r10, %rd2;
    and.b32 %r11, %r0, 31;
    shl.b32 %r11, %r11, 2;
    add.u32 %r10, %r10, %r11;
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra PRODUCE;
    bar.sync 1, 64;
    ld.shared.u32 %r12, [%r10];
    st.global.u32 [%rd1], %r12;
    ret;
PRODUCE:
    st.shared.u32 [%r10], %r0;
    bar.arrive 1, 64;
    ret;)",
                               kTile),
                        64, &out, true));
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t + 32);
}

TEST(Barrier, WarpsMayUseDifferentInstructionsOfTheSameBarrier) {
  ASSERT_RUNS(run_block(kernel(R"(
    setp.lt.u32 %p0, %r0, 32;
    @%p0 bra A;
    bar.sync 0;
    ret;
A:  bar.sync 0;
    ret;)"),
                        64, nullptr, true));
}

TEST(Barrier, EarlyReturnIsTolerated) {
  std::vector<std::uint32_t> out;
  ASSERT_RUNS(run_block(kernel(R"(
    setp.ge.u32 %p0, %r0, 40;
    @%p0 bra END;
    bar.sync 0;
    st.global.u32 [%rd1], 1;
END:
    ret;)"),
                        64, &out, true));
  EXPECT_EQ(out[39], 1U);
  EXPECT_EQ(out[40], 0U);
}

TEST(Barrier, InsideAConditionIsReported) {
  const auto result = run_block(kernel(R"(
    setp.ge.u32 %p0, %r0, 40;
    @%p0 bra JOIN;
    bar.sync 0;
JOIN:
    st.global.u32 [%rd1], 1;
    ret;)"),
                                64, nullptr, true);
  EXPECT_FAULT(result, barrier_divergence);
}

TEST(Barrier, LanesOfAWarpAtDifferentBarriersIsReported) {
  const auto result = run_block(kernel(R"(
    setp.ge.u32 %p0, %r0, 16;
    @%p0 bra B;
    bar.sync 0;
    ret;
B:  bar.sync 0;
    ret;)"),
                                32, nullptr, true);
  EXPECT_FAULT(result, barrier_divergence);
}

TEST(Barrier, DifferentBarriersForEverIsDivergence) {
  const auto result = run_block(kernel(R"(
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra B;
    bar.sync 1;
    ret;
B:  bar.sync 2;
    ret;)"),
                                64, nullptr);
  EXPECT_FAULT(result, barrier_divergence);
  EXPECT_NE(result.fault->message.find("barrier 2"), std::string::npos) << result.fault->message;
}

TEST(Barrier, TooFewThreadsIsADeadlock) {
  const auto result = run_block(kernel("bar.sync 1, 128;\n ret;"), 64, nullptr);
  EXPECT_FAULT(result, deadlock);
  EXPECT_TRUE(result.fault->has_thread);
}

TEST(Barrier, CountsMustAgree) {
  const auto result = run_block(kernel(R"(
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra B;
    bar.sync 1, 64;
    ret;
B:  bar.sync 1, 96;
    ret;)"),
                                64, nullptr);
  EXPECT_FAULT(result, barrier_divergence);
}

TEST(Barrier, NumberFromARegister) {
  ASSERT_RUNS(run_block(kernel(R"(
    shr.u32 %r10, %r0, 6;
    add.u32 %r10, %r10, 1;
    barrier.sync %r10, 64;
    ret;)"),
                        128, nullptr));
}

} // namespace
} // namespace kernevo::vgpu::testing
