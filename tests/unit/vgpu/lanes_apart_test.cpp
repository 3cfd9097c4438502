// Sanitized runs in shuffled order let the lanes of a warp advance apart between their barriers:
// what a program may rely on holds for every seed, what it may not shows for some.
#include "harness.h"

namespace kernevo::vgpu::testing {
namespace {

constexpr std::uint64_t kSeeds = 40;

MachineOptions apart(std::uint64_t seed) {
  MachineOptions options;
  options.sanitize = true;
  options.order = BlockOrder::shuffled;
  options.order_seed = seed;
  return options;
}

struct Ran {
  LaunchResult result;
  std::vector<std::uint32_t> out;
};

Ran run(const std::string& ptx, const MachineOptions& options, std::uint32_t threads = 32,
        std::size_t words = 64) {
  Bench bench(ptx, options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(words));
  Ran ran;
  ran.result = bench.launch("k", {1, 1, 1}, {threads, 1, 1}, Parameters().add(out));
  ran.out = bench.content<std::uint32_t>(out);
  return ran;
}

// Of kSeeds seeds, those where the kernel gives this or has a fault of this kind.
template <class Right> int right_for(const std::string& ptx, Right&& right) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    count += static_cast<int>(right(run(ptx, apart(seed))));
  return count;
}

// Each lane hands its number to the one that mirrors it, by strong accesses, which never race.
std::string mirror(const std::string& between) {
  return kernel(R"(
  .shared .align 4 .b8 box[128];
  mov.u32 %r10, box;
  shl.b32 %r11, %r0, 2;
  add.u32 %r12, %r10, %r11;
  st.volatile.shared.u32 [%r12], %r0;
)" + between + R"(
  xor.b32 %r13, %r11, 124;
  add.u32 %r13, %r10, %r13;
  ld.volatile.shared.u32 %r14, [%r13];
  st.global.u32 [%rd1], %r14;
  ret;
)");
}

bool mirrored(const Ran& ran) {
  for (std::uint32_t i = 0; i < 32; ++i)
    if (ran.out[i] != 31 - i)
      return false;
  return !ran.result.fault;
}

TEST(LanesApart, AWarpBarrierIsEnough) {
  EXPECT_EQ(right_for(mirror("bar.warp.sync -1;"), mirrored), static_cast<int>(kSeeds));
  EXPECT_EQ(right_for(mirror("bar.sync 0;"), mirrored), static_cast<int>(kSeeds));
}

TEST(LanesApart, WithoutABarrierTheValueNeedNotBeThere) {
  MachineOptions together;
  together.sanitize = true;
  EXPECT_TRUE(mirrored(run(mirror(""), together)));
  EXPECT_LT(right_for(mirror(""), mirrored), static_cast<int>(kSeeds) / 4);
}

TEST(LanesApart, WhoStaysBehindIsDrawnAnewAfterEachBarrier) {
  for (const char* barrier : {"bar.warp.sync -1;\n", "bar.sync 0;\n"}) {
    std::string text;
    for (int step = 0; step < 8; ++step)
      text += std::string(barrier) + "activemask.b32 %r20;\n add.u64 %rd1, %rd1, 128;\n" +
              "st.global.u32 [%rd1], %r20;\n";
    const std::string ptx = kernel(text + "ret;");
    const Ran ran = run(ptx, apart(5), 32, 32 * 9);
    ASSERT_RUNS(ran.result);
    int other = 0;
    for (std::size_t step = 1; step < 8; ++step) {
      EXPECT_NE(ran.out[step * 32 + 32], 0U);
      other += static_cast<int>(ran.out[step * 32 + 32] != ran.out[32]);
    }
    EXPECT_GT(other, 4) << barrier;
  }
}

TEST(LanesApart, WarpOperationsStillWaitForTheirMembers) {
  const std::string ptx = kernel(R"(
  mov.u32 %r10, %r0;
  mov.u32 %r11, 16;
TREE:
  shfl.sync.bfly.b32 %r12, %r10, %r11, 31, -1;
  add.u32 %r10, %r10, %r12;
  shr.u32 %r11, %r11, 1;
  setp.ne.u32 %p1, %r11, 0;
  @%p1 bra TREE;
  setp.lt.u32 %p2, %r0, 7;
  vote.sync.ballot.b32 %r13, %p2, -1;
  add.u32 %r10, %r10, %r13;
  setp.ge.u32 %p3, %r0, 16;
  @%p3 bra HIGH;
  shfl.sync.idx.b32 %r14, %r0, 3, 31, 0xFFFF;
  bra.uni DONE;
HIGH:
  shfl.sync.idx.b32 %r14, %r0, 20, 31, 0xFFFF0000;
DONE:
  add.u32 %r10, %r10, %r14;
  st.global.u32 [%rd1], %r10;
  ret;
)");
  const int right = right_for(ptx, [](const Ran& ran) {
    for (std::uint32_t i = 0; i < 32; ++i)
      if (ran.out[i] != 496 + 127 + (i < 16 ? 3U : 20U))
        return false;
    return !ran.result.fault;
  });
  EXPECT_EQ(right, static_cast<int>(kSeeds));
}

// A lock that lanes of one warp take from each other ends, whoever stays behind.
TEST(LanesApart, LanesMayWaitForEachOther) {
  const std::string ptx = kernel(R"(
  .shared .align 4 .b8 lock[4];
  .shared .align 4 .b8 count[4];
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READY;
  st.shared.u32 [lock], 0;
  st.shared.u32 [count], 0;
READY:
  bar.warp.sync -1;
TRY:
  atom.shared.cas.b32 %r10, [lock], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra TRY;
  membar.cta;
  ld.volatile.shared.u32 %r11, [count];
  add.u32 %r11, %r11, 1;
  st.volatile.shared.u32 [count], %r11;
  membar.cta;
  atom.shared.exch.b32 %r12, [lock], 0;
  bar.warp.sync -1;
  ld.shared.u32 %r13, [count];
  st.global.u32 [%rd1], %r13;
  ret;
)");
  const int right = right_for(ptx, [](const Ran& ran) {
    return !ran.result.fault && ran.out[0] == 32 && ran.out[31] == 32;
  });
  EXPECT_EQ(right, static_cast<int>(kSeeds));
}

// Lanes that enter a function apart have frames of their own; a barrier in it must not wait for
// ever.
TEST(LanesApart, BarriersInFunctionsAreMet) {
  const std::string function = R"(
.func (.param .u32 result) sum(.param .u32 value)
{
  .reg .b32 %v, %w;
  ld.param.u32 %v, [value];
  bar.warp.sync -1;
  shfl.sync.bfly.b32 %w, %v, 1, 31, -1;
  add.u32 %v, %v, %w;
  st.param.u32 [result], %v;
  ret;
}
)";
  const std::string ptx = kernel(R"(
  .param .u32 in;
  .param .u32 back;
  st.param.u32 [in], %r0;
  call (back), sum, (in);
  ld.param.u32 %r10, [back];
  st.global.u32 [%rd1], %r10;
  ret;
)",
                                 function);
  const int right = right_for(ptx, [](const Ran& ran) {
    return !ran.result.fault && ran.out[0] == 1 && ran.out[31] == 61;
  });
  EXPECT_EQ(right, static_cast<int>(kSeeds));
}

TEST(LanesApart, ASeedGivesTheSameAgain) {
  const std::string ptx = kernel("activemask.b32 %r20;\n st.global.u32 [%rd1], %r20;\n ret;");
  const Ran first = run(ptx, apart(9));
  EXPECT_EQ(run(ptx, apart(9)).out, first.out);
  std::uint32_t others = 0;
  for (std::uint64_t seed = 10; seed < 20; ++seed)
    others += static_cast<std::uint32_t>(run(ptx, apart(seed)).out != first.out);
  EXPECT_GT(others, 5U);
}

// What nobody has set is neither zero nor a NaN, and differs from block to block.
TEST(Leftovers, LocalAndSharedMemoryHoldWhatOthersLeft) {
  for (const char* space : {"local", "shared"}) {
    const std::string ptx =
        kernel(std::string(".") + space + " .align 4 .b8 box[16];\n" + "ld." + space +
               ".u32 %r10, [box];\n st.global.u32 [%rd1], %r10;\n ret;");
    Bench bench(ptx);
    const auto out = bench.buffer("out", std::vector<std::uint32_t>(4));
    ASSERT_RUNS(bench.launch("k", {4, 1, 1}, {1, 1, 1}, Parameters().add(out)));
    const auto found = bench.content<std::uint32_t>(out);
    for (const std::uint32_t word : found)
      EXPECT_EQ(word & 0x70007000U, 0x50005000U) << space;
    EXPECT_NE(found[0], found[1]) << space;
    EXPECT_NE(found[1], found[2]) << space;
  }
}

// What a function leaves in local memory is not what the next call finds set.
TEST(Leftovers, GrowingLocalMemoryIsUnsetToo) {
  const std::string function = R"(
.func (.param .u32 result) look()
{
  .local .align 4 .b8 large[4096];
  .reg .b32 %v;
  ld.local.u32 %v, [large+4000];
  st.param.u32 [result], %v;
  ret;
}
)";
  const Ran ran = run(kernel(R"(
  .param .u32 back;
  call (back), look;
  ld.param.u32 %r10, [back];
  st.global.u32 [%rd1], %r10;
  ret;
)",
                             function),
                      {}, 1, 1);
  ASSERT_RUNS(ran.result);
  EXPECT_EQ(ran.out[0] & 0x70007000U, 0x50005000U);
}

// The read-only cache.

std::string around(const std::string& load, const std::string& then) {
  return kernel("st.global.u32 [%rd1], %r0;\n membar.gl;\n bar.sync 0;\n" + load +
                " %r10, [%rd1];\n" + then + " ret;");
}

TEST(ReadOnlyCache, DoesNotSeeWhatTheLaunchWrites) {
  MachineOptions options;
  options.sanitize = true;
  for (const char* load : {"ld.global.nc.u32", "ldu.global.u32"}) {
    const Ran ran = run(around(load, ""), options);
    EXPECT_FAULT(ran.result, stale_read_only_load);
    EXPECT_NE(ran.result.fault->message.find("store by thread (0,0,0)"), std::string::npos)
        << ran.result.fault->message;
  }
  ASSERT_RUNS(run(around("ld.global.u32", ""), options).result);
  const Ran later = run(kernel("ld.global.nc.u32 %r10, [%rd1];\n add.u32 %r10, %r10, 1;\n"
                               "st.global.u32 [%rd1], %r10;\n ret;"),
                        options);
  EXPECT_FAULT(later.result, stale_read_only_load);
}

TEST(ReadOnlyCache, SeesWhatAnEarlierLaunchWroteAndItsNeighboursDoNotMatter) {
  MachineOptions options;
  options.sanitize = true;
  Bench bench(kernel("add.u64 %rd2, %rd1, 128;\n ld.global.nc.u32 %r10, [%rd1];\n"
                     "add.u32 %r10, %r10, 1;\n st.global.u32 [%rd2], %r10;\n ret;"),
              options);
  const auto out = bench.buffer("out", std::vector<std::uint32_t>(96));
  ASSERT_RUNS(bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(out)));
  ASSERT_RUNS(
      bench.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(out + 32 * sizeof(std::uint32_t))));
  EXPECT_EQ(bench.content<std::uint32_t>(out)[70], 2U);
}

} // namespace
} // namespace kernevo::vgpu::testing
