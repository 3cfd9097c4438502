#include "analysis_harness.h"

namespace kernevo::vgpu {
namespace {

using testing::Analyzed;
using testing::kernel;

TEST(AnalysisLiveness, SetsOfRegisters) {
  analysis::RegisterSet a(130);
  analysis::RegisterSet b(130);
  a.insert(0);
  a.insert(129);
  b.insert(64);
  EXPECT_TRUE(b.unite(a));
  EXPECT_FALSE(b.unite(a));
  EXPECT_EQ(b.members(), (std::vector<std::uint32_t>{0, 64, 129}));
  EXPECT_EQ(b.members_without(a), (std::vector<std::uint32_t>{64}));
  b.erase(64);
  EXPECT_FALSE(b.contains(64));
  analysis::RegisterSet c(130);
  EXPECT_FALSE(c.unite_without(b, a));
}

TEST(AnalysisLiveness, LoopCarriedValuesLiveRoundTheLoop) {
  const Analyzed k(kernel(R"(
    mov.u32 %r4, 0;
    mov.u32 %r5, 7;
LOOP:
    add.u32 %r6, %r4, 1;
    mov.u32 %r4, %r6;
    setp.lt.u32 %p1, %r4, 5;
    @%p1 bra LOOP;
    add.u32 %r7, %r4, %r5;
    st.global.u32 [%rd1], %r7;
)"));
  const auto loop = k.block("LOOP");
  EXPECT_TRUE(k.liveness.live_in[loop].contains(k.reg("%r4")));
  EXPECT_TRUE(k.liveness.live_in[loop].contains(k.reg("%r5")));
  EXPECT_FALSE(k.liveness.live_in[loop].contains(k.reg("%r6"))) << "written before it is read";
  EXPECT_FALSE(k.liveness.live_in[loop].contains(k.reg("%p1")));
  EXPECT_TRUE(k.liveness.live_out[loop].contains(k.reg("%rd1")));
  EXPECT_FALSE(k.liveness.live_out[loop].contains(k.reg("%rd0")));
  EXPECT_TRUE(k.liveness.live_in[0].members().empty()) << "nothing is read before it is written";
}

TEST(AnalysisLiveness, APartialWriteKeepsTheOldValueAlive) {
  const Analyzed k(kernel(R"(
    mov.u32 %r4, 1;
    setp.lt.u32 %p1, %r0, 5;
    bra.uni NEXT;
NEXT:
    @%p1 mov.u32 %r4, 2;
    st.global.u32 [%rd1], %r4;
)"));
  EXPECT_TRUE(k.liveness.live_in[k.block("NEXT")].contains(k.reg("%r4")));
}

TEST(AnalysisLiveness, ARegisterReadFirstIsLiveAtTheEntry) {
  const Analyzed k(kernel("st.global.u32 [%rd1], %r9;"));
  EXPECT_EQ(k.liveness.live_in[0].members(), (std::vector<std::uint32_t>{k.reg("%r9")}));
}

TEST(AnalysisLiveness, BeforeEachInstruction) {
  const Analyzed k(kernel(R"(
    bra.uni NEXT;
NEXT:
    mov.u32 %r4, 1;
    add.u32 %r5, %r4, %r0;
    st.global.u32 [%rd1], %r5;
)"));
  const auto before = live_before(*k.code, k.flow, k.liveness, k.block("NEXT"));
  ASSERT_EQ(before.size(), 3U);
  EXPECT_FALSE(before[0].contains(k.reg("%r4")));
  EXPECT_TRUE(before[1].contains(k.reg("%r4")));
  EXPECT_TRUE(before[1].contains(k.reg("%r0")));
  EXPECT_FALSE(before[2].contains(k.reg("%r4")));
  EXPECT_TRUE(before[2].contains(k.reg("%r5")));
}

} // namespace
} // namespace kernevo::vgpu
