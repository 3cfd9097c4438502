#include "analysis_harness.h"

namespace kernevo::vgpu {
namespace {

using testing::Analyzed;
using testing::header;
using testing::kernel;
using Blocks = std::vector<std::uint32_t>;

TEST(AnalysisFlow, StraightCodeIsOneBlock) {
  const Analyzed k(kernel("st.global.u32 [%rd1], %r0;"));
  ASSERT_EQ(k.flow.blocks.size(), 1U);
  EXPECT_EQ(k.flow.blocks[0].first, 0U);
  EXPECT_EQ(k.flow.blocks[0].last, k.code->function->instructions.size());
  EXPECT_TRUE(k.flow.blocks[0].successors.empty());
  EXPECT_EQ(k.flow.postdominator[0], kNone);
  EXPECT_FALSE(k.flow.loop_header[0]);
}

TEST(AnalysisFlow, DiamondMeetsAtItsPostdominator) {
  const Analyzed k(kernel(R"(
    setp.lt.u32 %p1, %r0, 5;
    @%p1 bra THEN;
    mov.u32 %r4, 1;
    bra.uni JOIN;
THEN:
    mov.u32 %r4, 2;
JOIN:
    st.global.u32 [%rd1], %r4;
    ret;
)"));
  ASSERT_EQ(k.flow.blocks.size(), 4U);
  EXPECT_EQ(k.flow.blocks[0].successors, (Blocks{1, k.block("THEN")})) << "fall-through first";
  EXPECT_EQ(k.flow.blocks[1].successors, (Blocks{k.block("JOIN")}));
  EXPECT_EQ(k.flow.blocks[k.block("JOIN")].predecessors, (Blocks{1, k.block("THEN")}));
  EXPECT_EQ(k.flow.postdominator,
            (Blocks{k.block("JOIN"), k.block("JOIN"), k.block("JOIN"), kNone}));
}

TEST(AnalysisFlow, LoopHeaderIsTheTargetOfTheEdgeBack) {
  const Analyzed k(kernel(R"(
    mov.u32 %r4, 0;
LOOP:
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 5;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r4;
)"));
  ASSERT_EQ(k.flow.blocks.size(), 3U);
  EXPECT_EQ(k.flow.loop_header, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(k.flow.blocks[1].successors, (Blocks{2, 1}));
  EXPECT_EQ(k.flow.postdominator, (Blocks{1, 2, kNone}));
}

TEST(AnalysisFlow, GuardedExitsFallThroughAndLeave) {
  for (const std::string leave : {"exit", "ret", "trap"}) {
    const Analyzed k(
        kernel("setp.lt.u32 %p1, %r0, 5;\n@%p1 " + leave + ";\nst.global.u32 [%rd1], %r0;"));
    ASSERT_EQ(k.flow.blocks.size(), 2U) << leave;
    EXPECT_EQ(k.flow.blocks[0].successors, (Blocks{1})) << leave;
    EXPECT_EQ(k.flow.postdominator[0], kNone) << leave << ": some lanes never get to block 1";
  }
}

TEST(AnalysisFlow, ALabelBeforeTheClosingBraceIsTheEnd) {
  const Analyzed k(kernel(R"(
    setp.lt.u32 %p1, %r0, 5;
    @%p1 bra DONE;
    st.global.u32 [%rd1], %r0;
DONE:
)"));
  ASSERT_EQ(k.flow.blocks.size(), 2U);
  EXPECT_EQ(k.flow.blocks[0].successors, (Blocks{1}));
  EXPECT_EQ(k.flow.postdominator[0], kNone);
}

TEST(AnalysisFlow, AnEndlessLoopStillHasPostdominators) {
  const Analyzed k(kernel(R"(
    setp.lt.u32 %p1, %r0, 5;
    @%p1 bra OUT;
LOOP:
    add.u32 %r4, %r4, 1;
    bra.uni LOOP;
OUT:
    ret;
)"));
  EXPECT_EQ(k.flow.postdominator[0], kNone);
  EXPECT_TRUE(k.flow.loop_header[k.block("LOOP")]);
}

TEST(AnalysisFlow, IndirectBranchesGoToEveryTarget) {
  const Analyzed k(kernel(R"(
TABLE: .branchtargets A, B, A;
    and.b32 %r4, %r0, 1;
    brx.idx %r4, TABLE;
A:
    mov.u32 %r5, 1;
    bra.uni JOIN;
B:
    mov.u32 %r5, 2;
JOIN:
    st.global.u32 [%rd1], %r5;
)"));
  EXPECT_EQ(k.flow.blocks[0].successors, (Blocks{k.block("A"), k.block("B")}));
  EXPECT_EQ(k.flow.postdominator[0], k.block("JOIN"));
}

TEST(AnalysisFlow, CodeNothingReachesIsKept) {
  const Analyzed k(kernel("ret;\nmov.u32 %r4, 1;"));
  ASSERT_EQ(k.flow.blocks.size(), 2U);
  EXPECT_TRUE(k.flow.blocks[1].predecessors.empty());
}

TEST(AnalysisFlow, AnEmptyFunctionHasNoBlocks) {
  const Analyzed k(header() + ".visible .entry k() {\n}\n");
  EXPECT_TRUE(k.flow.blocks.empty());
  EXPECT_TRUE(k.shapes.registers.empty());
}

} // namespace
} // namespace kernevo::vgpu
