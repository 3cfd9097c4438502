#include "ptx_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

using testing::ElementsAre;
using Kind = Operand::Kind;

Instruction first(const std::string& text) {
  Function function = kernel(text);
  if (function.instructions.empty())
    return {};
  return function.instructions.front();
}

TEST(OperandsTest, MnemonicIsTakenApart) {
  const Instruction load = first("ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, %f2}, [%d1];");
  EXPECT_EQ(load.opcode, Opcode::ld);
  EXPECT_EQ(load.space, Space::global);
  EXPECT_EQ(load.vector_width, 2);
  EXPECT_EQ(load.type(), Type::f32);
  EXPECT_THAT(load.modifiers, ElementsAre(Mod::nc, Mod::l1_no_allocate, Mod::l2_128b));
  EXPECT_EQ(load.line, static_cast<std::uint32_t>(kFirstLine));

  const Instruction copy = first("cp.async.cg.shared::cta.global [%r1], [%d1], 16;");
  EXPECT_EQ(copy.opcode, Opcode::cp_async);
  EXPECT_EQ(copy.space, Space::shared);
  EXPECT_EQ(copy.space2, Space::global);
  EXPECT_TRUE(copy.has(Mod::shared_cta));

  const Instruction barrier = first("barrier.cta.sync.aligned 0;");
  EXPECT_EQ(barrier.opcode, Opcode::barrier_sync);
  EXPECT_THAT(barrier.modifiers, ElementsAre(Mod::aligned));

  const Instruction convert = first("cvt.rzi.s32.f32 %r1, %f1;");
  EXPECT_THAT(convert.types, ElementsAre(Type::s32, Type::f32));
}

TEST(OperandsTest, IntegerLiterals) {
  const auto value = [](const std::string& text) {
    const Instruction made = first("mov.u64 %d1, " + text + ";");
    return made.operands.size() == 2 ? made.operands[1].bits : 0xDEAD;
  };
  EXPECT_EQ(value("42"), 42U);
  EXPECT_EQ(value("0x2A"), 42U);
  EXPECT_EQ(value("0X2aU"), 42U);
  EXPECT_EQ(value("052"), 42U);
  EXPECT_EQ(value("0b101010"), 42U);
  EXPECT_EQ(value("0"), 0U);
  EXPECT_EQ(value("-1"), ~std::uint64_t{0});
  EXPECT_EQ(value("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(value("~0"), ~std::uint64_t{0});
  EXPECT_EQ(value("2 + 3 * 4"), 14U);
  EXPECT_EQ(value("(2 + 3) * 4 - 1"), 19U);
  EXPECT_EQ(value("1 << 4 | 1"), 17U);
  EXPECT_EQ(value("WARP_SZ * 2"), 64U);
}

TEST(OperandsTest, RealLiterals) {
  const Operand raw = first("mov.f32 %f1, 0fBF800000;").operands[1];
  EXPECT_EQ(raw.kind, Kind::real32);
  EXPECT_EQ(raw.bits, 0xBF800000U);
  const Operand wide = first("mov.f64 %g1, 0d3FF0000000000000;").operands[1];
  EXPECT_EQ(wide.kind, Kind::real64);
  EXPECT_EQ(wide.bits, 0x3FF0000000000000U);
  EXPECT_EQ(first("mov.f64 %g1, -2.5e-1;").operands[1].bits, 0xBFD0000000000000U);
}

TEST(OperandsTest, Addresses) {
  const Operand plain = first("ld.global.u32 %r1, [%d1];").operands[1];
  EXPECT_EQ(plain.kind, Kind::address);
  EXPECT_EQ(plain.elements[0].kind, Kind::reg);
  EXPECT_EQ(plain.offset, 0);
  EXPECT_EQ(first("ld.global.u32 %r1, [%d1+8];").operands[1].offset, 8);
  EXPECT_EQ(first("ld.global.u32 %r1, [%d1+-8];").operands[1].offset, -8);
  EXPECT_EQ(first("ld.global.u32 %r1, [%d1-8];").operands[1].offset, -8);
  const Operand symbol = first("ld.param.u32 %r1, [P+4];").operands[1];
  EXPECT_EQ(symbol.elements[0].name, "P");
  EXPECT_EQ(symbol.offset, 4);
  const Operand absolute = first("ld.shared.u32 %r1, [64];").operands[1];
  EXPECT_EQ(absolute.elements[0].kind, Kind::integer);
  EXPECT_EQ(absolute.elements[0].bits, 64U);
}

TEST(OperandsTest, PairsVectorsSinksAndNegation) {
  const Instruction compare = first("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;");
  EXPECT_EQ(compare.operands[0].kind, Kind::pair);
  EXPECT_EQ(compare.operands[0].elements.size(), 2U);
  EXPECT_TRUE(compare.operands[3].negated);
  const Instruction unpack = first("mov.b32 {%h1, _}, %r1;");
  EXPECT_EQ(unpack.operands[0].kind, Kind::vector);
  EXPECT_EQ(unpack.operands[0].elements[1].kind, Kind::sink);
  EXPECT_EQ(first("shfl.sync.idx.b32 _|%p1, %r2, 0, 31, -1;").operands[0].elements[0].kind,
            Kind::sink);
}

TEST(OperandsTest, SpecialRegisters) {
  EXPECT_EQ(first("mov.u32 %r1, %tid.y;").operands[1].special, Special::tid_y);
  EXPECT_EQ(first("mov.u32 %r1, %nctaid.z;").operands[1].special, Special::nctaid_z);
  EXPECT_EQ(first("mov.u32 %r1, %laneid;").operands[1].special, Special::laneid);
  EXPECT_EQ(first("mov.u64 %d1, %globaltimer;").operands[1].special, Special::globaltimer);
  EXPECT_EQ(first("mov.u32 %r1, %envreg31;").operands[1].special, Special::envreg);
}

TEST(OperandsTest, Guards) {
  const Instruction made = first("@!%p3 add.s32 %r1, %r1, 1;");
  ASSERT_TRUE(made.guard);
  EXPECT_TRUE(made.guard->negated);
  EXPECT_FALSE(first("@%p3 exit;").guard->negated);
  EXPECT_FALSE(first("exit;").guard);
}

TEST(OperandsTest, CallsAlwaysHaveThreeParts) {
  const Instruction plain = first("call.uni callee;");
  ASSERT_EQ(plain.operands.size(), 3U);
  EXPECT_TRUE(plain.operands[0].elements.empty());
  EXPECT_EQ(plain.operands[1].name, "callee");
  EXPECT_TRUE(plain.operands[2].elements.empty());

  const Function indirect = kernel("proto: .callprototype (.param .b64 _) _ (.param .b64 _);\n"
                                   ".param .b64 result;\n"
                                   "call (result), %d1, (Q), proto;");
  ASSERT_EQ(indirect.instructions.size(), 2U);
  const Instruction& call = indirect.instructions[0];
  ASSERT_EQ(call.operands.size(), 4U);
  EXPECT_EQ(call.operands[0].elements[0].name, "result");
  EXPECT_EQ(call.operands[1].kind, Kind::reg);
  EXPECT_EQ(call.operands[2].elements[0].name, "Q");
  EXPECT_EQ(call.operands[3].name, "proto");
  EXPECT_EQ(indirect.prototypes.at("proto").parameters.size(), 1U);
}

} // namespace
} // namespace kernevo::ptx
