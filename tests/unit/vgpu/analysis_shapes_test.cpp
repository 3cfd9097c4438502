#include "analysis_harness.h"

#include <ctime>
#include <fmt/format.h>

namespace kernevo::vgpu {
namespace {

using analysis::lane_facts;
using analysis::LaneFacts;
using analysis::Shape;
using testing::Analyzed;
using testing::kernel;

Shape line(std::int64_t stride, int group = 32, std::uint64_t alignment = 1) {
  return {Shape::Kind::straight, static_cast<std::uint8_t>(group), stride, alignment};
}

TEST(AnalysisLaneFacts, BlocksOfOneDimension) {
  for (const std::uint32_t threads : {256U, 100U, 7U}) {
    const LaneFacts facts = lane_facts({threads, 1, 1});
    EXPECT_EQ(facts.tid_x, line(1, 32, 32)) << threads;
    EXPECT_EQ(facts.tid_y, Shape::uniform(0));
    EXPECT_EQ(facts.tid_z, Shape::uniform(0));
  }
  EXPECT_EQ(lane_facts({1, 100, 1}).tid_y, line(1, 32, 32));
  EXPECT_EQ(lane_facts({1, 1, 60}).tid_z, line(1, 32, 32));
  EXPECT_EQ(lane_facts({1, 1, 1}).tid_x, Shape::uniform(0));
}

TEST(AnalysisLaneFacts, RowsOfWholeWarps) {
  const LaneFacts facts = lane_facts({64, 3, 2});
  EXPECT_EQ(facts.tid_x, line(1, 32, 32));
  EXPECT_TRUE(facts.tid_y.is_uniform());
  EXPECT_TRUE(facts.tid_z.is_uniform());
}

TEST(AnalysisLaneFacts, RowsOfPartsOfAWarp) {
  EXPECT_EQ(lane_facts({16, 16, 1}), (LaneFacts{line(1, 16, 16), line(0, 16), Shape::uniform(0)}));
  EXPECT_EQ(lane_facts({8, 8, 2}), (LaneFacts{line(1, 8, 8), line(0, 8), line(0, 32)}));
  EXPECT_EQ(lane_facts({48, 3, 3}), (LaneFacts{line(1, 16, 16), line(0, 16), line(0, 16)}));
  EXPECT_EQ(lane_facts({8, 3, 3}).tid_z, line(0, 8));
  EXPECT_EQ(lane_facts({16, 1, 4}), (LaneFacts{line(1, 16, 16), Shape::uniform(0), line(0, 16)}));
}

TEST(AnalysisLaneFacts, AnythingElseVaries) {
  EXPECT_TRUE(lane_facts({10, 10, 1}).tid_x.is_varying());
  EXPECT_TRUE(lane_facts({10, 10, 1}).tid_y.is_varying());
  EXPECT_TRUE(lane_facts({4, 4, 4}).tid_y.is_varying());
  EXPECT_EQ(lane_facts({4, 4, 4}).tid_z, line(0, 16));
}

// %r0 is tid.x, %r1 ctaid.x.
Shape shape_after(const std::string& body, const std::string& reg,
                  std::array<std::uint32_t, 3> block = {256, 1, 1}) {
  return Analyzed(kernel(body), block).shape(reg);
}

TEST(AnalysisShapes, GlobalIndicesAndAddressesAreStraight) {
  const Analyzed k(kernel(""));
  EXPECT_EQ(k.shape("%r0"), line(1, 32, 32));
  EXPECT_TRUE(k.shape("%r1").is_uniform());
  EXPECT_TRUE(k.shape("%rd0").is_uniform());
  EXPECT_EQ(k.shape("%r3"), line(1)) << "mad of uniform factors, then tid";
  EXPECT_EQ(k.shape("%rd1"), line(4));
}

TEST(AnalysisShapes, TilesAreStraightInTheirRows) {
  const std::array<std::uint32_t, 3> block = {16, 16, 1};
  const std::string body = R"(
    mov.u32 %r5, %tid.y;
    mad.lo.u32 %r6, %r1, 16, %r5;
    mul.lo.u32 %r7, %r6, %r2;
    add.u32 %r8, %r7, %r0;
    mul.wide.u32 %rd4, %r8, 4;
    sub.u32 %r9, %r8, %r0;
)";
  EXPECT_EQ(shape_after(body, "%r6", block), line(0, 16));
  EXPECT_EQ(shape_after(body, "%r7", block), line(0, 16)) << "times a uniform value";
  EXPECT_EQ(shape_after(body, "%r8", block), line(1, 16));
  EXPECT_EQ(shape_after(body, "%rd4", block), line(4, 16, 4));
  EXPECT_EQ(shape_after(body, "%r9", block), line(0, 16));
}

TEST(AnalysisShapes, ArithmeticByConstants) {
  EXPECT_EQ(shape_after("neg.s32 %r4, %r0;", "%r4"), line(-1, 32, 32));
  EXPECT_EQ(shape_after("sub.u32 %r4, 7, %r0;", "%r4"), line(-1));
  EXPECT_EQ(shape_after("mul.lo.u32 %r4, %r0, 12;", "%r4"), line(12, 32, 128));
  EXPECT_EQ(shape_after("mov.u32 %r5, 12; mul.lo.u32 %r4, %r5, %r0;", "%r4"), line(12, 32, 128));
  EXPECT_EQ(shape_after("mul.wide.s32 %rd4, %r0, -4;", "%rd4"), line(-4, 32, 128));
  EXPECT_EQ(shape_after("mul.wide.u32 %rd4, %r0, -4;", "%rd4"), line(4294967292, 32, 128));
  EXPECT_EQ(shape_after("shl.b32 %r4, %r0, 31;", "%r4").stride, std::int64_t{-2147483648});
  EXPECT_EQ(shape_after("shl.b32 %r4, %r0, 32;", "%r4"), Shape::uniform(0));
  EXPECT_TRUE(shape_after("mul.lo.u32 %r4, %r0, %r1;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("mul.hi.u32 %r4, %r0, 3;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("add.sat.s32 %r4, %r0, 3;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("mul.hi.u32 %r4, %r1, 3;", "%r4").is_uniform());
}

TEST(AnalysisShapes, BitsOfTheThreadNumber) {
  EXPECT_EQ(shape_after("and.b32 %r4, %r0, 31;", "%r4"), line(1, 32, 32));
  EXPECT_EQ(shape_after("and.b32 %r4, %r0, 15;", "%r4"), line(1, 16, 16));
  EXPECT_EQ(shape_after("and.b32 %r4, %r0, 7;", "%r4").group, 8);
  EXPECT_TRUE(shape_after("and.b32 %r4, %r0, 3;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("and.b32 %r4, %r0, -32;", "%r4").is_uniform());
  EXPECT_EQ(shape_after("and.b32 %r4, %r0, -32;", "%r4").alignment, 32U);
  EXPECT_TRUE(shape_after("shr.u32 %r4, %r0, 5;", "%r4").is_uniform());
  EXPECT_EQ(shape_after("shr.u32 %r4, %r0, 4;", "%r4"), line(0, 16));
  EXPECT_EQ(shape_after("shr.u32 %r4, %r0, 3;", "%r4"), line(0, 8));
  EXPECT_TRUE(shape_after("shr.u32 %r4, %r0, 1;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("shr.s32 %r4, %r0, 31;", "%r4").is_uniform());
  EXPECT_EQ(shape_after("rem.u32 %r4, %r0, 32;", "%r4"), line(1, 32, 32));
  EXPECT_TRUE(shape_after("div.u32 %r4, %r0, 32;", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("rem.u32 %r4, %r0, 33;", "%r4").is_varying());
  EXPECT_EQ(shape_after("bfe.u32 %r4, %r0, 4, 3;", "%r4"), line(0, 16));
  EXPECT_EQ(shape_after("xor.b32 %r4, %r0, 16;", "%r4").group, 16);
  EXPECT_EQ(shape_after("shl.b32 %r5, %r1, 5; or.b32 %r4, %r5, %r0;", "%r4"), line(1, 32, 32));
  EXPECT_TRUE(shape_after("shl.b32 %r5, %r1, 4; or.b32 %r4, %r5, %r0;", "%r4").group == 16);
  EXPECT_TRUE(shape_after("or.b32 %r4, %r1, %r0;", "%r4").is_varying());
  EXPECT_EQ(shape_after("shl.b32 %r5, %r0, 2; or.b32 %r4, %r5, 3;", "%r4"), line(4));
  // The alignment of ntid is not known, so neither is the lane from the global index.
  EXPECT_TRUE(shape_after("and.b32 %r4, %r3, 31;", "%r4").is_varying());
}

TEST(AnalysisShapes, ConversionsOfIntegers) {
  EXPECT_EQ(shape_after("cvt.u64.u32 %rd4, %r3;", "%rd4"), line(1));
  EXPECT_EQ(shape_after("cvt.s64.s32 %rd4, %r3;", "%rd4"), line(1));
  EXPECT_EQ(shape_after("cvt.u32.u64 %r4, %rd1;", "%r4"), line(4));
  EXPECT_EQ(shape_after("cvt.u16.u32 %h4, %r3;", "%h4"), line(1));
  EXPECT_EQ(shape_after("cvt.u32.u8 %r4, %r0;", "%r4"), line(1, 32, 32)) << "tid is aligned";
  EXPECT_TRUE(shape_after("cvt.u32.u8 %r4, %r3;", "%r4").is_varying()) << "may wrap at 256";
  EXPECT_TRUE(shape_after("cvt.rn.f32.u32 %f4, %r0;", "%f4").is_varying());
  EXPECT_TRUE(shape_after("cvt.rn.f32.u32 %f4, %r1;", "%f4").is_uniform());
  EXPECT_TRUE(shape_after("cvt.sat.u8.u32 %r4, %r0;", "%r4").is_varying());
}

TEST(AnalysisShapes, PredicatesAndFloatsAreUniformOrVary) {
  EXPECT_TRUE(shape_after("setp.lt.u32 %p1, %r0, 5;", "%p1").is_varying());
  EXPECT_TRUE(shape_after("setp.lt.u32 %p1, %r1, 5;", "%p1").is_uniform());
  EXPECT_TRUE(shape_after("setp.lt.u32 %p1, %r1, 5; not.pred %p2, %p1;", "%p2").is_uniform());
  EXPECT_TRUE(shape_after("mov.b32 %f1, %r0;", "%f1").is_varying());
  EXPECT_TRUE(
      shape_after("mov.u32 %r5, %tid.y; mov.b32 %f1, %r5;", "%f1", {16, 16, 1}).is_varying());
  EXPECT_TRUE(shape_after("mov.f32 %f1, 0f3F800000; add.f32 %f2, %f1, %f1;", "%f2").is_uniform());
}

TEST(AnalysisShapes, SelectionNeedsAUniformPredicate) {
  const std::string body = "setp.lt.u32 %p1, %r1, 5; add.u32 %r5, %r0, 9;"
                           "selp.b32 %r4, %r0, %r5, %p1; selp.b32 %r6, %r0, %r1, %p1;"
                           "setp.lt.u32 %p2, %r0, 5; selp.b32 %r7, %r0, %r5, %p2;";
  EXPECT_EQ(shape_after(body, "%r4"), line(1));
  EXPECT_TRUE(shape_after(body, "%r6").is_varying());
  EXPECT_TRUE(shape_after(body, "%r7").is_varying());
}

TEST(AnalysisShapes, LoadsFromOneAddressAreUniform) {
  EXPECT_TRUE(shape_after("ld.global.u32 %r4, [%rd0+16];", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("ld.global.v2.u32 {%r4, %r5}, [%rd0];", "%r5").is_uniform());
  EXPECT_TRUE(shape_after("ld.global.u32 %r4, [%rd1];", "%r4").is_varying());
  EXPECT_TRUE(shape_after("ld.u32 %r4, [%rd0];", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("atom.global.add.u32 %r4, [%rd0], 1;", "%r4").is_varying());
  const std::string local = ".local .align 4 .b8 stack[16];\n mov.u64 %rd4, stack;\n";
  EXPECT_TRUE(shape_after(local + "ld.local.u32 %r4, [%rd4];", "%r4").is_varying());
  EXPECT_TRUE(shape_after(local + "ld.u32 %r4, [%rd0];", "%r4").is_varying())
      << "the pointer may be one to local memory";
  EXPECT_TRUE(
      shape_after("setp.lt.u32 %p1, %r0, 5; @%p1 ld.global.u32 %r4, [%rd0];", "%r4").is_varying());
}

TEST(AnalysisShapes, ParametersOfAFunctionVary) {
  auto loaded = load_program(testing::header() + R"(
.func k(.param .b32 a) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [a];
  ret;
})",
                             "test.ptx");
  ASSERT_TRUE(loaded.has_value());
  const Code& code = (*loaded)->codes[0];
  const auto flow = analysis::find_flow(code);
  const auto shapes = find_shapes(code, flow, find_liveness(code, flow), lane_facts({32, 1, 1}));
  EXPECT_TRUE(shapes.registers[0].is_varying());
}

TEST(AnalysisShapes, WarpInstructions) {
  EXPECT_TRUE(shape_after("vote.sync.ballot.b32 %r4, %p1, -1;", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("vote.sync.ballot.b32 %r4, %p1, %r0;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("activemask.b32 %r4;", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("redux.sync.add.u32 %r4, %r0, -1;", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("bar.red.popc.u32 %r4, 0, %p1;", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("match.any.sync.b32 %r4, %r0, -1;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("shfl.sync.down.b32 %r4, %r0, 1, 31, -1;", "%r4").is_varying());
  EXPECT_TRUE(shape_after("shfl.sync.down.b32 %r4, %r1, 1, 31, -1;", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("shfl.sync.idx.b32 %r4, %r0, 0, 31, -1;", "%r4").is_uniform());
  EXPECT_TRUE(shape_after("shfl.sync.idx.b32 %r4, %r0, 0, 7199, -1;", "%r4").is_varying())
      << "segments of 4 lanes";
  EXPECT_TRUE(shape_after("shfl.sync.up.b32 %r4|%p1, %r1, 1, 0, -1;", "%p1").is_varying());
  EXPECT_EQ(shape_after("mov.u32 %r4, %laneid;", "%r4"), line(1, 32, 0));
  EXPECT_TRUE(shape_after("mov.u32 %r4, %lanemask_lt;", "%r4").is_varying());
}

TEST(AnalysisShapes, WhatIsReadBeforeItIsWrittenIsZero) {
  EXPECT_EQ(shape_after("add.u32 %r4, %r9, 8;", "%r9"), Shape::uniform(0));
  EXPECT_EQ(shape_after("add.u32 %r4, %r9, 8;", "%r4"), Shape::uniform(8));
}

TEST(AnalysisShapes, EveryDefinitionCounts) {
  const std::string body = R"(
    mov.u32 %r4, %r0;
    mul.wide.u32 %rd4, %r4, 8;
LOOP:
    ld.global.u32 %r5, [%rd0];
    add.u64 %rd4, %rd4, 256;
    add.u32 %r4, %r4, 4;
    setp.lt.u32 %p1, %r1, 100;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r4;
)";
  EXPECT_EQ(shape_after(body, "%rd4"), line(8, 32, 32));
  EXPECT_EQ(shape_after(body, "%r4"), line(1, 32, 4));
}

const char* const kDiamond = R"(
    mov.u32 %r6, 3;
    setp.lt.u32 %p1, %r0, 5;
    @%p1 bra THEN;
    mov.u32 %r4, 1;
    mov.u32 %r5, 8;
    add.u32 %r7, %r5, 1;
    bra.uni JOIN;
THEN:
    mov.u32 %r4, 2;
JOIN:
    add.u32 %r8, %r4, %r6;
    st.global.u32 [%rd1], %r8;
)";

TEST(AnalysisShapes, WhatPartedLanesWroteVariesWhereTheyMeet) {
  const Analyzed k(kernel(kDiamond));
  EXPECT_TRUE(k.shapes.divergent_branch[0]);
  EXPECT_TRUE(k.shape("%r4").is_varying());
  EXPECT_TRUE(k.shape("%r8").is_varying());
  EXPECT_TRUE(k.shape("%r5").is_uniform()) << "not read after the lanes have met";
  EXPECT_TRUE(k.shape("%r7").is_uniform());
  EXPECT_TRUE(k.shape("%r6").is_uniform());
}

TEST(AnalysisShapes, AUniformBranchPartsNothing) {
  std::string text = kDiamond;
  text.replace(text.find("%p1, %r0"), 8, "%p1, %r1");
  const Analyzed k(kernel(text));
  EXPECT_FALSE(k.shapes.divergent_branch[0]);
  EXPECT_TRUE(k.shape("%r8").is_uniform());
}

TEST(AnalysisShapes, LanesMeetBeforeThePostdominator) {
  // if (a && b) X else Y: Y is reached from both tests, and %r4 written between them.
  const Analyzed k(kernel(R"(
    mov.u32 %r4, 1;
    setp.lt.u32 %p1, %r0, 5;
    @%p1 bra Y;
    mov.u32 %r4, 2;
    setp.lt.u32 %p2, %r1, 7;
    @%p2 bra Y;
    bra.uni END;
Y:
    st.global.u32 [%rd1], %r4;
END:
    ret;
)"));
  EXPECT_TRUE(k.shape("%r4").is_varying());
}

TEST(AnalysisShapes, LanesMeetThoughSomeLeaveTheFunction) {
  const Analyzed k(kernel(R"(
    mov.u32 %r4, 1;
    setp.lt.u32 %p1, %r0, 5;
    setp.lt.u32 %p2, %r1, 5;
    @%p1 bra SKIP;
    @%p2 exit;
    mov.u32 %r4, 2;
SKIP:
    st.global.u32 [%rd1], %r4;
)"));
  EXPECT_EQ(k.flow.postdominator[0], kNone);
  EXPECT_TRUE(k.shape("%r4").is_varying());
}

TEST(AnalysisShapes, LeavingEarlyChangesNothingForTheRest) {
  const Analyzed k(kernel(R"(
    setp.gt.u32 %p1, %r3, 1000;
    @%p1 bra DONE;
    mov.u32 %r4, 0;
LOOP:
    ld.global.u32 %r5, [%rd1];
    setp.eq.u32 %p2, %r5, 7;
    @%p2 exit;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, %r1;
    @%p3 bra LOOP;
    st.global.u32 [%rd1], %r4;
DONE:
    ret;
)"));
  EXPECT_TRUE(k.shape("%r4").is_uniform());
  EXPECT_TRUE(k.shape("%p3").is_uniform());
  EXPECT_TRUE(k.shapes.divergent_branch[0]);
  EXPECT_TRUE(k.shapes.divergent_branch[k.block("LOOP")]);
}

const char* const kLeavesLoop = R"(
    mov.u32 %r4, 0;
LOOP:
    add.u32 %r4, %r4, 1;
    mul.lo.u32 %r6, %r4, 3;
    setp.lt.u32 %p1, %r4, %r0;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], )";

TEST(AnalysisShapes, LanesLeaveALoopWithDifferentCounts) {
  const Analyzed counted(kernel(std::string(kLeavesLoop) + "%r4;"));
  EXPECT_TRUE(counted.shape("%r4").is_varying());
  const Analyzed unused(kernel(std::string(kLeavesLoop) + "%r0;"));
  EXPECT_TRUE(unused.shape("%r4").is_uniform()) << "the lanes in the loop are in step";
  EXPECT_TRUE(unused.shape("%p1").is_varying());
}

TEST(AnalysisShapes, ABreakUnderAConditionPartsTheCounts) {
  const std::string body = R"(
    mov.u32 %r4, 0;
LOOP:
    ld.global.u32 %r5, [%rd1];
    setp.eq.u32 %p2, %r5, 7;
    @%p2 bra OUT;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p3, %r4, %r1;
    @%p3 bra LOOP;
OUT:
    st.global.u32 [%rd1], )";
  EXPECT_TRUE(shape_after(body + "%r4;", "%r4").is_varying());
  EXPECT_TRUE(shape_after(body + "%r5;", "%r4").is_uniform());
}

TEST(AnalysisShapes, ADivergentInnerLoopLeavesTheOuterCountAlone) {
  const Analyzed k(kernel(R"(
    mov.u32 %r4, 0;
OUTER:
    mov.u32 %r5, 0;
INNER:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r0;
    @%p1 bra INNER;
    add.u32 %r6, %r5, %r6;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, %r1;
    @%p2 bra OUTER;
    st.global.u32 [%rd1], %r6;
)"));
  EXPECT_TRUE(k.shape("%r4").is_uniform());
  EXPECT_TRUE(k.shape("%p2").is_uniform());
  EXPECT_TRUE(k.shape("%r5").is_varying());
  EXPECT_TRUE(k.shape("%r6").is_varying());
}

TEST(AnalysisShapes, AVaryingIndirectBranchParts) {
  const std::string body = R"(
TABLE: .branchtargets A, B;
    and.b32 %r4, REG, 1;
    brx.idx %r4, TABLE;
A:
    mov.u32 %r5, 1;
    bra.uni JOIN;
B:
    mov.u32 %r5, 2;
JOIN:
    st.global.u32 [%rd1], %r5;
)";
  auto with = [&](const std::string& reg) {
    std::string text = body;
    text.replace(text.find("REG"), 3, reg);
    return shape_after(text, "%r5");
  };
  EXPECT_TRUE(with("%r0").is_varying());
  EXPECT_TRUE(with("%r1").is_uniform());
}

TEST(AnalysisShapes, DemotedRegistersVaryAndSoDoTheirUsers) {
  const Analyzed k(kernel(""), {256, 1, 1}, {"%r1"});
  EXPECT_TRUE(k.shape("%r1").is_varying());
  EXPECT_TRUE(k.shape("%r3").is_varying());
  EXPECT_TRUE(k.shape("%r0").is_straight());
}

TEST(AnalysisShapes, OfOperands) {
  const Analyzed k(kernel("ld.global.u32 %r4, [%rd1+8];"));
  const auto& load = k.code->function->instructions.back();
  EXPECT_EQ(shape_of(*k.code, k.shapes, load.operands[1], k.facts), line(4));
  ptx::Operand number;
  number.kind = ptx::Operand::Kind::integer;
  number.bits = 48;
  EXPECT_EQ(shape_of(*k.code, k.shapes, number, k.facts), Shape::uniform(16));
  ptx::Operand special;
  special.kind = ptx::Operand::Kind::special;
  EXPECT_EQ(shape_of(*k.code, k.shapes, special, k.facts), line(1, 32, 32));
}

TEST(AnalysisShapes, LongFunctionsAreQuick) {
  std::string body;
  for (int i = 0; i < 2000; ++i)
    body += fmt::format("ld.global.u32 %r{0}, [%rd1+{2}];\nadd.u32 %r{1}, %r{0}, %r{1};\n"
                        "add.u32 %r50, %r50, 1;\nmul.lo.u32 %r51, %r50, 4;\n"
                        "setp.lt.u32 %p1, %r{0}, 9;\n@%p1 bra L{2};\n"
                        "add.u32 %r52, %r52, %r51;\nsetp.lt.u32 %p2, %r52, 9;\n@%p2 bra END;\n"
                        "mov.u32 %r53, %r52;\nL{2}:\n",
                        i % 20 + 4, i % 20 + 24, i);
  body += "END:\nret;\n";
  auto loaded = load_program(kernel(body), "test.ptx");
  ASSERT_TRUE(loaded.has_value());
  const Code& code = (*loaded)->codes[0];
  ASSERT_GT(code.function->instructions.size(), 20'000U);
  const std::clock_t start = std::clock();
  const auto flow = analysis::find_flow(code);
  const auto shapes = find_shapes(code, flow, find_liveness(code, flow), lane_facts({32, 1, 1}));
  const double milliseconds = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("milliseconds", std::to_string(milliseconds));
  // Far above what it takes in a release build; quadratic work would take seconds.
  EXPECT_LT(milliseconds, 500);
  EXPECT_TRUE(shapes.divergent_branch[0]);
}

} // namespace
} // namespace kernevo::vgpu
