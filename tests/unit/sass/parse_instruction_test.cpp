#include "kernevo/sass/parse_instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::sass {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum RegisterFile;

Registers r(int first, int count = 1) {
  return {general, first, count};
}

TEST(ParseInstruction, SplitsMnemonicAndGuard) {
  const SassInstruction i = parse_instruction("@!P0 FFMA.FTZ R4, R2.reuse, -R3, c[0x0][0x160]");
  EXPECT_EQ(i.opcode, "FFMA");
  EXPECT_THAT(i.modifiers, ElementsAre("FTZ"));
  ASSERT_TRUE(i.guard);
  EXPECT_EQ(*i.guard, (Guard{predicate, 0, true}));
  EXPECT_THAT(i.destinations, ElementsAre(r(4)));
  EXPECT_THAT(i.sources, ElementsAre(r(2), r(3)));
}

TEST(ParseInstruction, UniformGuard) {
  const SassInstruction i = parse_instruction("@UP1 UIADD3 UR4, UR4, 0x1, URZ");
  EXPECT_EQ(*i.guard, (Guard{uniform_predicate, 1, false}));
  EXPECT_THAT(i.destinations, ElementsAre(Registers{uniform, 4, 1}));
}

TEST(ParseInstruction, WideLoadsAndStores) {
  const SassInstruction load = parse_instruction("LDG.E.128.CONSTANT R8, desc[UR4][R2.64+0x10]");
  EXPECT_THAT(load.destinations, ElementsAre(r(8, 4)));
  EXPECT_THAT(load.sources, ElementsAre(Registers{uniform, 4, 2}, r(2, 2)));
  ASSERT_TRUE(load.memory);
  EXPECT_EQ(*load.memory, (MemoryAccess{MemorySpace::global, 16, true, false, false}));
  const SassInstruction store = parse_instruction("STS.64 [R3.X8+0x20], R6");
  EXPECT_THAT(store.destinations, IsEmpty());
  EXPECT_THAT(store.sources, ElementsAre(r(3), r(6, 2)));
  EXPECT_EQ(*store.memory, (MemoryAccess{MemorySpace::shared, 8, false, true, false}));
  const SassInstruction old = parse_instruction("LDG.E.U16.SYS R2, [R2]");
  EXPECT_THAT(old.sources, ElementsAre(r(2, 2))) << "sm_75 does not write the address's width";
  EXPECT_EQ(old.memory->bytes, 2);
}

TEST(ParseInstruction, PredicatesAmongDestinations) {
  const SassInstruction compare = parse_instruction("ISETP.GE.AND P0, PT, R0, c[0x0][0x178], P2");
  EXPECT_THAT(compare.destinations, ElementsAre(Registers{predicate, 0, 1}));
  EXPECT_THAT(compare.sources, ElementsAre(r(0), Registers{predicate, 2, 1}));
  const SassInstruction add = parse_instruction("IADD3 R8, P2, R8, 0x400, RZ");
  EXPECT_THAT(add.destinations, ElementsAre(r(8), Registers{predicate, 2, 1}));
  const SassInstruction carry = parse_instruction("IADD3.X R3, RZ, R3, RZ, P2, !PT");
  EXPECT_THAT(carry.destinations, ElementsAre(r(3)));
  EXPECT_THAT(carry.sources, ElementsAre(r(3), Registers{predicate, 2, 1}));
  const SassInstruction logic = parse_instruction("LOP3.LUT P1, R6, R3, 0x3, RZ, 0xc0, !PT");
  EXPECT_THAT(logic.destinations, ElementsAre(Registers{predicate, 1, 1}, r(6)));
  const SassInstruction check = parse_instruction("FCHK P0, R1, R2");
  EXPECT_THAT(check.destinations, ElementsAre(Registers{predicate, 0, 1}));
  EXPECT_THAT(check.sources, ElementsAre(r(1), r(2)));
}

TEST(ParseInstruction, RegisterRangesOfWideAndTensorOperands) {
  const SassInstruction wide = parse_instruction("IMAD.WIDE R4, R0, R5, R2");
  EXPECT_THAT(wide.destinations, ElementsAre(r(4, 2)));
  EXPECT_THAT(wide.sources, ElementsAre(r(0), r(5), r(2, 2)));
  const SassInstruction fma = parse_instruction("DFMA R2, R4, R6, R8");
  EXPECT_THAT(fma.sources, ElementsAre(r(4, 2), r(6, 2), r(8, 2)));
  const SassInstruction mma = parse_instruction("HMMA.16816.F32.BF16 R4, R8, R12, R4");
  EXPECT_THAT(mma.destinations, ElementsAre(r(4, 4)));
  EXPECT_THAT(mma.sources, ElementsAre(r(8, 4), r(12, 2), r(4, 4)));
  const SassInstruction half = parse_instruction("HMMA.16816.F16 R4, R8, R12, RZ");
  EXPECT_THAT(half.destinations, ElementsAre(r(4, 2)));
  const SassInstruction convert = parse_instruction("F2F.F32.F64 R3, R4");
  EXPECT_THAT(convert.destinations, ElementsAre(r(3)));
  EXPECT_THAT(convert.sources, ElementsAre(r(4, 2)));
  const SassInstruction matrix = parse_instruction("LDSM.16.M88.4 R4, [R2+0x100]");
  EXPECT_THAT(matrix.destinations, ElementsAre(r(4, 4)));
}

TEST(ParseInstruction, ControlOperands) {
  const SassInstruction ret = parse_instruction("RET.REL.NODEC R4 `(dot)");
  EXPECT_THAT(ret.operands, ElementsAre("R4", "`(dot)"));
  const SassInstruction sync = parse_instruction("BSYNC B1");
  EXPECT_THAT(sync.sources, ElementsAre(Registers{convergence, 1, 1}));
  EXPECT_FALSE(parse_instruction("BRA `(.L_x_1)").memory);
}

} // namespace
} // namespace kernevo::sass
