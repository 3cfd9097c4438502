// cp.async.bulk and its reductions.
#include "hopper_harness.h"

#include <fmt/format.h>
#include <numeric>

namespace kernevo::vgpu::testing {
namespace {

// Thread 0 makes a barrier and runs `issue`; then all threads wait for its first phase and run
// `after`. %r0 thread, %r1 the tile, %r2 the barrier, %rd0 in, %rd1 out, %r3 and %r4 the values.
std::string kernel(const std::string& issue, const std::string& after, bool wait = true) {
  return hopper_header() + fmt::format(R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 x, .param .u32 y)
{{
  .shared .align 128 .b8 tile[4096];
  .shared .align 8 .b64 barrier;
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<12>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mov.u32 %r2, barrier;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r3, [x];
  ld.param.u32 %r4, [y];
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra issued;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
{}
issued:
  bar.sync 0;
{}
{}
  ret;
}}
)",
                                       issue,
                                       wait ? R"(
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra waiting;)"
                                            : "",
                                       after);
}

const std::string kLoad = R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], %r3, [%r2];)";
// Each thread passes on its word.
const std::string kPassOn = R"(
  shl.b32 %r5, %r0, 2;
  add.u32 %r6, %r1, %r5;
  ld.shared.u32 %r7, [%r6];
  cvt.u64.u32 %rd5, %r5;
  add.u64 %rd6, %rd1, %rd5;
  st.global.u32 [%rd6], %r7;)";

std::vector<std::uint32_t> iota(std::size_t count, std::uint32_t first = 0) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(BulkCopy, GlobalToSharedCompletesOnTheBarrier) {
  for (const bool sanitize : {false, true}) {
    HopperBench bench(kernel(kLoad, kPassOn), sanitize);
    const auto in = bench.buffer("in", iota(128, 7));
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(128));
    ASSERT_RUNS(bench.launch(128, Parameters().add(in).add(out).add(512U).add(0U)));
    EXPECT_EQ(bench.content<std::uint32_t>(out), iota(128, 7));
  }
}

TEST(BulkCopy, ReadingWithoutWaitingIsARace) {
  HopperBench bench(kernel(R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r3;)",
                           R"(
  setp.ne.u32 %p2, %r0, 0;
  @%p2 bra read;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], %r3, [%r2];
read:)" + kPassOn,
                           false),
                    true);
  const auto in = bench.buffer("in", iota(128));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(128));
  EXPECT_FAULT(bench.launch(128, Parameters().add(in).add(out).add(512U).add(0U)), shared_race);
}

TEST(BulkCopy, FewerBytesThanExpectedNeverCompleteThePhase) {
  HopperBench bench(kernel(R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd0], %r3, [%r2];)",
                           kPassOn));
  const auto in = bench.buffer("in", iota(128));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(128));
  EXPECT_FAULT(bench.launch(128, Parameters().add(in).add(out).add(256U).add(0U)), deadlock);
}

TEST(BulkCopy, SharedToGlobal) {
  HopperBench bench(kernel(kLoad, R"(
  shl.b32 %r5, %r0, 2;
  add.u32 %r6, %r1, %r5;
  ld.shared.u32 %r7, [%r6];
  add.u32 %r7, %r7, 1000;
  st.shared.u32 [%r6], %r7;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p0 bra done;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r4;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  cp.async.bulk.wait_group 0;
done:)"),
                    true);
  const auto in = bench.buffer("in", iota(128));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(128));
  ASSERT_RUNS(bench.launch(128, Parameters().add(in).add(out).add(512U).add(256U)));
  auto expected = iota(64, 1000);
  expected.resize(128);
  EXPECT_EQ(bench.content<std::uint32_t>(out), expected);
}

// What one thread does with in (in shared memory) on top of out.
template <class T>
std::vector<T> reduced(const std::string& operation, const std::vector<T>& in,
                       const std::vector<T>& out) {
  HopperBench bench(kernel(kLoad, fmt::format(R"(
  @%p0 bra done;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.{} [%rd1], [%r1], %r3;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
done:)",
                                              operation)));
  const auto pin = bench.buffer("in", in);
  const auto pout = bench.buffer("out", out);
  const auto bytes = static_cast<std::uint32_t>(in.size() * sizeof(T));
  const auto result = bench.launch(32, Parameters().add(pin).add(pout).add(bytes).add(0U));
  EXPECT_FALSE(result.fault.has_value()) << fault_text(result);
  return bench.content<T>(pout);
}

TEST(BulkCopy, Reductions) {
  using U = std::vector<std::uint32_t>;
  using S = std::vector<std::int32_t>;
  using F = std::vector<float>;
  EXPECT_EQ(reduced<std::uint32_t>("add.u32", {1, 2, 3, 0xFFFFFFFF}, {10, 20, 30, 1}),
            (U{11, 22, 33, 0}));
  EXPECT_EQ(reduced<std::int32_t>("min.s32", {-1, 2, 3, -4}, {0, 0, 7, -9}), (S{-1, 0, 3, -9}));
  EXPECT_EQ(reduced<std::int32_t>("max.s32", {-1, 2, 3, -4}, {0, 0, 7, -9}), (S{0, 2, 7, -4}));
  EXPECT_EQ(reduced<std::uint32_t>("max.u32", {0xFFFFFFFF, 2, 3, 4}, {1, 5, 3, 2}),
            (U{0xFFFFFFFF, 5, 3, 4}));
  EXPECT_EQ(reduced<std::uint32_t>("inc.u32", {3, 3, 3, 3}, {0, 2, 3, 9}), (U{1, 3, 0, 0}));
  EXPECT_EQ(reduced<std::uint32_t>("dec.u32", {3, 3, 3, 3}, {0, 2, 3, 9}), (U{3, 1, 2, 3}));
  EXPECT_EQ(reduced<std::uint32_t>("and.b32", {0xF0, 1, 2, 3}, {0xFF, 3, 1, 2}),
            (U{0xF0, 1, 0, 2}));
  EXPECT_EQ(reduced<std::uint32_t>("or.b32", {0xF0, 1, 2, 3}, {0x0F, 3, 1, 2}), (U{0xFF, 3, 3, 3}));
  EXPECT_EQ(reduced<std::uint32_t>("xor.b32", {0xF0, 1, 2, 3}, {0xFF, 3, 1, 2}),
            (U{0x0F, 2, 3, 1}));
  EXPECT_EQ(reduced<float>("add.f32", {0.5F, 1, -2, 0x1p-140F}, {0.25F, 1, 2, 0x1p-140F}),
            (F{0.75F, 2, 0, 0})); // subnormals are flushed
  EXPECT_EQ(reduced<double>("add.f64", {0.5, 1e300}, {0.25, -1}),
            (std::vector<double>{0.75, 1e300}));
  // 1 + 2 and 1.5 + 2^-11 as halves: the second is a tie that rounds to even.
  EXPECT_EQ(reduced<std::uint16_t>("add.noftz.f16", {0x3C00, 0x1000, 0, 0, 0, 0, 0, 0},
                                   {0x4000, 0x3E00, 0, 0, 0, 0, 0, 0}),
            (std::vector<std::uint16_t>{0x4200, 0x3E00, 0, 0, 0, 0, 0, 0}));
}

TEST(BulkCopy, RefusesOddSizesAndAddresses) {
  const auto launch = [](std::uint32_t size, std::uint64_t shift) {
    HopperBench bench(kernel(kLoad, kPassOn));
    const auto in = bench.buffer("in", iota(512));
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(128));
    return bench.launch(128, Parameters().add(in + shift).add(out).add(size).add(0U));
  };
  EXPECT_FAULT(launch(20, 0), misaligned);
  EXPECT_FAULT(launch(512, 8), misaligned);
  EXPECT_FAULT(launch(2064, 0), out_of_bounds);
}

TEST(BulkCopy, BarrierMustBeInitialised) {
  std::string text = kernel(kLoad, kPassOn);
  const std::string init = "mbarrier.init.shared.b64 [%r2], 1;";
  text.replace(text.find(init), init.size(), "");
  const std::string arrive = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r3;";
  text.replace(text.find(arrive), arrive.size(), "");
  HopperBench bench(text, true);
  const auto in = bench.buffer("in", iota(512));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(128));
  EXPECT_FAULT(bench.launch(128, Parameters().add(in).add(out).add(512U).add(0U)),
               uninitialized_read);
}

// Every block of a cluster of two gets what block 0 loads, and so does its barrier.
TEST(BulkCopy, MulticastReachesEveryBlockOfTheMask) {
  for (const bool sanitize : {false, true}) {
    HopperBench bench(kernel(R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r3;)",
                             R"(
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mov.u32 %r8, %cluster_ctarank;
  or.b32 %r9, %r8, %r0;
  setp.ne.u32 %p2, %r9, 0;
  mov.b16 %h0, 3;
  @!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd0], %r3, [%r2], %h0;
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra waiting;
  mad.lo.u32 %r10, %r8, 512, 0;
  cvt.u64.u32 %rd7, %r10;
  add.u64 %rd1, %rd1, %rd7;)" + kPassOn +
                                 R"(
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)",
                             false),
                      sanitize);
    bench.cluster = {2, 1, 1};
    const auto in = bench.buffer("in", iota(128, 5));
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(256));
    ASSERT_RUNS(bench.launch(128, Parameters().add(in).add(out).add(512U).add(0U), 0, {2, 1, 1}));
    auto expected = iota(128, 5);
    expected.insert(expected.end(), expected.begin(), expected.begin() + 128);
    EXPECT_EQ(bench.content<std::uint32_t>(out), expected);
  }
}

// A block copies a part of its shared memory to the other block's.
TEST(BulkCopy, SharedToSharedOfAnotherBlock) {
  HopperBench bench(kernel(kLoad, R"(
  mov.u32 %r8, %cluster_ctarank;
  @%p0 bra sent;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
sent:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  @%p0 bra arrived;
  xor.b32 %r9, %r8, 1;
  mapa.shared::cluster.u32 %r10, %r1, %r9;
  mapa.shared::cluster.u32 %r11, %r2, %r9;
  add.u32 %r10, %r10, 1024;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r1], 256, [%r11];
arrived:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 1;
  @!%p1 bra arrived;
  add.u32 %r1, %r1, 1024;
  mul.lo.u32 %r10, %r8, 256;
  cvt.u64.u32 %rd7, %r10;
  add.u64 %rd1, %rd1, %rd7;)" + kPassOn +
                                      R"(
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;)"));
  bench.cluster = {2, 1, 1};
  const auto in = bench.buffer("in", iota(128, 40));
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(128));
  ASSERT_RUNS(bench.launch(64, Parameters().add(in).add(out).add(512U).add(0U), 0, {2, 1, 1}));
  auto expected = iota(64, 40);
  const auto again = expected;
  expected.insert(expected.end(), again.begin(), again.end());
  EXPECT_EQ(bench.content<std::uint32_t>(out), expected);
}

} // namespace
} // namespace kernevo::vgpu::testing
