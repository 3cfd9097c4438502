#include "harness.h"

#include <numeric>

namespace kernevo::vgpu::testing {
namespace {

std::vector<std::uint32_t> run_lanes(const std::string& body, std::uint32_t threads = 32,
                                     MachineOptions options = {}) {
  Bench bench(kernel(body), options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(threads));
  const auto result = bench.launch("k", {1, 1, 1}, {threads, 1, 1}, Parameters().add(out));
  EXPECT_FALSE(result.fault.has_value()) << fault_text(result);
  return bench.content<std::uint32_t>(out);
}

TEST(Divergence, NestedIfsReconverge) {
  // out = (t & 1 ? (t & 2 ? 3 : 1) : 0) * 100 + lanes active at the join
  const auto out = run_lanes(R"(
    and.b32 %r10, %r0, 1;
    setp.eq.u32 %p0, %r10, 0;
    mov.u32 %r11, 0;
    @%p0 bra JOIN;
    mov.u32 %r11, 1;
    and.b32 %r10, %r0, 2;
    setp.eq.u32 %p1, %r10, 0;
    @%p1 bra INNER;
    mov.u32 %r11, 3;
INNER:
    activemask.b32 %r12;
    popc.b32 %r13, %r12;
    mad.lo.u32 %r11, %r11, 1000, %r13;
JOIN:
    activemask.b32 %r12;
    popc.b32 %r13, %r12;
    mad.lo.u32 %r11, %r11, 100, %r13;
    st.global.u32 [%rd1], %r11;
    ret;)");
  for (std::uint32_t t = 0; t < 32; ++t) {
    const std::uint32_t inner = (t & 1) == 0 ? 0 : ((t & 2) != 0 ? 3000 : 1000) + 16;
    EXPECT_EQ(out[t], inner * 100 + 32) << t;
  }
}

TEST(Divergence, LanesThatLeaveALoopWaitForTheRest) {
  const auto out = run_lanes(R"(
    mov.u32 %r10, 0;
    mov.u32 %r11, 0;
LOOP:
    add.u32 %r11, %r11, %r10;
    add.u32 %r10, %r10, 1;
    setp.le.u32 %p0, %r10, %r0;
    @%p0 bra LOOP;
    activemask.b32 %r12;
    popc.b32 %r13, %r12;
    mad.lo.u32 %r11, %r11, 100, %r13;
    st.global.u32 [%rd1], %r11;
    ret;)");
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t * (t + 1) / 2 * 100 + 32) << t;
}

TEST(Divergence, LoopExitLaidOutBeforeTheBody) {
  const auto out = run_lanes(R"(
    mov.u32 %r10, 0;
    bra TEST;
DONE:
    activemask.b32 %r12;
    popc.b32 %r13, %r12;
    mad.lo.u32 %r10, %r10, 100, %r13;
    st.global.u32 [%rd1], %r10;
    ret;
TEST:
    setp.ge.u32 %p0, %r10, %r0;
    @%p0 bra DONE;
    add.u32 %r10, %r10, 1;
    bra TEST;)");
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t * 100 + 32) << t;
}

TEST(Divergence, EarlyExitLeavesTheRestRunning) {
  const auto out = run_lanes(R"(
    setp.ge.u32 %p0, %r0, 20;
    @%p0 exit;
    activemask.b32 %r12;
    popc.b32 %r13, %r12;
    st.global.u32 [%rd1], %r13;
    ret;)");
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t < 20 ? 20U : 0U) << t;
}

TEST(Divergence, IrreducibleFlowTerminates) {
  // Two entries into the loop A <-> B.
  const auto out = run_lanes(R"(
    mov.u32 %r10, 0;
    and.b32 %r11, %r0, 1;
    setp.eq.u32 %p0, %r11, 0;
    @%p0 bra B;
A:
    add.u32 %r10, %r10, 1;
    setp.gt.u32 %p1, %r10, 20;
    @%p1 bra DONE;
B:
    add.u32 %r10, %r10, 2;
    setp.gt.u32 %p1, %r10, 20;
    @%p1 bra DONE;
    bra A;
DONE:
    st.global.u32 [%rd1], %r10;
    ret;)");
  for (std::uint32_t t = 0; t < 32; ++t) {
    std::uint32_t v = 0;
    bool at_b = (t & 1) == 0;
    for (;;) {
      v += at_b ? 2 : 1;
      at_b = !at_b;
      if (v > 20)
        break;
    }
    EXPECT_EQ(out[t], v) << t;
  }
}

TEST(Divergence, IndirectBranch) {
  const auto out = run_lanes(R"(
    and.b32 %r10, %r0, 3;
    mov.u32 %r11, 0;
    TABLE: .branchtargets C0, C1, C2, C3;
    brx.idx %r10, TABLE;
C0: mov.u32 %r11, 10; bra JOIN;
C1: mov.u32 %r11, 11; bra JOIN;
C2: mov.u32 %r11, 12;
C3: add.u32 %r11, %r11, 100;
JOIN:
    activemask.b32 %r12;
    popc.b32 %r13, %r12;
    mad.lo.u32 %r11, %r11, 100, %r13;
    st.global.u32 [%rd1], %r11;
    ret;)");
  const std::uint32_t expected[] = {10, 11, 112, 100};
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], expected[t & 3] * 100 + 32) << t;
}

// Each lane takes a lock that only one lane at a time can hold: without fair scheduling of the
// diverged lanes this never ends.
TEST(Divergence, SpinLockBetweenLanesOfOneWarp) {
  Bench bench(kernel(R"(
    mov.u32 %r10, 0;
SPIN:
    atom.global.cas.b32 %r11, [%rd0], 0, 1;
    setp.ne.u32 %p0, %r11, 0;
    @%p0 bra SPIN;
    ld.volatile.global.u32 %r12, [%rd0+4];
    add.u32 %r12, %r12, 1;
    st.volatile.global.u32 [%rd0+4], %r12;
    membar.gl;
    atom.global.exch.b32 %r13, [%rd0], 0;
    ret;)"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(2));
  const auto result = bench.launch("k", {4, 1, 1}, {64, 1, 1}, Parameters().add(out));
  ASSERT_RUNS(result);
  EXPECT_EQ(bench.content<std::uint32_t>(out)[1], 256U);
  EXPECT_LT(result.statistics.warp_instructions, 2'000'000U);
}

TEST(Divergence, WarpSyncWaitsForDivergedLanes) {
  // Half of the lanes take a detour before a common bar.warp.sync; then a shuffle of all works.
  const auto out = run_lanes(R"(
    setp.lt.u32 %p0, %r0, 16;
    @!%p0 bra SECOND;
    mov.u32 %r10, 7;
    bar.warp.sync 0xffffffff;
    bra JOIN;
SECOND:
    mov.u32 %r10, 9;
    bar.warp.sync 0xffffffff;
JOIN:
    shfl.sync.bfly.b32 %r11|%p1, %r10, 16, 31, 0xffffffff;
    st.global.u32 [%rd1], %r11;
    ret;)");
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t < 16 ? 9U : 7U);
}

TEST(Divergence, ShuffleOfAGroupInsideABranch) {
  const auto out = run_lanes(R"(
    mov.u32 %r11, 5;
    setp.lt.u32 %p0, %r0, 8;
    @!%p0 bra JOIN;
    shfl.sync.idx.b32 %r11|%p1, %r0, 3, 31, 0xff;
JOIN:
    st.global.u32 [%rd1], %r11;
    ret;)");
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t < 8 ? 3U : 5U);
}

TEST(Divergence, ShuffleNamingLanesThatNeverComeIsReported) {
  Bench bench(kernel(R"(
    setp.lt.u32 %p0, %r0, 8;
    @!%p0 bra OTHER;
    shfl.sync.idx.b32 %r11|%p1, %r0, 3, 31, 0xffffffff;
    ret;
OTHER:
    bar.sync 0;
    ret;)"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(32));
  const auto result = bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(out));
  EXPECT_FAULT(result, warp_sync_divergence);
}

TEST(Divergence, LaneOutsideItsOwnMaskIsReported) {
  Bench bench(kernel(R"(
    shfl.sync.idx.b32 %r11|%p1, %r0, 3, 31, 0xff;
    ret;)"));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(32));
  const auto result = bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(out));
  EXPECT_FAULT(result, warp_sync_divergence);
  EXPECT_EQ(result.fault->thread[0], 8U);
}

TEST(Divergence, ExitedLanesAreNotWaitedFor) {
  const auto out = run_lanes(R"(
    setp.ge.u32 %p0, %r0, 4;
    @%p0 bra END;
    shfl.sync.idx.b32 %r11|%p1, %r0, 1, 31, 0xffffffff;
    st.global.u32 [%rd1], %r11;
END:
    ret;)");
  EXPECT_EQ(out[0], 1U);
  EXPECT_EQ(out[3], 1U);
  EXPECT_EQ(out[4], 0U);
}

TEST(Divergence, MatchedGroupsShuffleSeparately) {
  // Every lane names its own group of four: one instruction, eight groups.
  const auto out = run_lanes(R"(
    and.b32 %r10, %r0, 28;
    mov.u32 %r12, 15;
    shl.b32 %r12, %r12, %r10;
    shfl.sync.idx.b32 %r11|%p1, %r0, %r10, 31, %r12;
    st.global.u32 [%rd1], %r11;
    ret;)");
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t & 28U);
}

} // namespace
} // namespace kernevo::vgpu::testing
