#include "ptx_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

using testing::ElementsAre;

TEST(ScopesTest, InnerRegistersShadowOuterOnes) {
  const Function k = kernel("mov.u32 %r1, 1;\n"
                            "{ .reg .b64 %r1; mov.u64 %r1, 2; }\n"
                            "mov.u32 %r1, 3;");
  ASSERT_EQ(k.instructions.size(), 4U);
  const auto reg = [&](std::size_t i) { return k.instructions[i].operands[0].reg; };
  EXPECT_EQ(reg(0), reg(2));
  EXPECT_NE(reg(0), reg(1));
  EXPECT_EQ(k.registers[reg(1)].type, Type::b64);
}

TEST(ScopesTest, LabelsAreLocalToTheirBlock) {
  const Function k = kernel("{ LOOP: add.s32 %r1, %r1, 1; @%p1 bra LOOP; }\n"
                            "{ LOOP: add.s32 %r1, %r1, 2; @%p1 bra LOOP; bra DONE; }");
  ASSERT_EQ(k.instructions.size(), 6U);
  const auto target = [&](std::size_t i) {
    return k.labels.at(k.instructions[i].operands[0].name);
  };
  EXPECT_EQ(target(1), 0U);
  EXPECT_EQ(target(3), 2U);
  EXPECT_EQ(target(4), 5U);
  EXPECT_NE(k.instructions[1].operands[0].name, k.instructions[3].operands[0].name);
}

TEST(ScopesTest, LabelsOfAnInnerBlockAreNotSeenOutside) {
  EXPECT_THAT(error_of(in_kernel("bra INNER; { INNER: exit; }")),
              testing::HasSubstr("label 'INNER' is not defined in 'k'"));
}

TEST(ScopesTest, LocalVariablesGetUniqueNames) {
  const Function k = kernel("{ .param .b32 param0; st.param.b32 [param0], %r1; }\n"
                            "{ .param .b32 param0; st.param.b32 [param0+0], %r2; }");
  ASSERT_EQ(k.variables.size(), 3U); // Q as well
  EXPECT_NE(k.variables[1].name, k.variables[2].name);
  EXPECT_EQ(k.instructions[0].operands[0].elements[0].name, k.variables[1].name);
  EXPECT_EQ(k.instructions[1].operands[0].elements[0].name, k.variables[2].name);
}

TEST(ScopesTest, LocalVariableDoesNotHideTheGlobalOutsideItsBlock) {
  const Module module = parse_good(".version 8.0 .target sm_80 .global .u32 x;\n"
                                   ".entry k { .reg .b32 %r<2>;\n"
                                   "{ .local .u32 x; st.local.u32 [x], 1; }\n"
                                   "ld.global.u32 %r1, [x]; ret; }");
  const Function& k = *module.find_function("k");
  EXPECT_EQ(k.instructions[1].operands[1].elements[0].name, "x");
  EXPECT_NE(k.instructions[0].operands[0].elements[0].name, "x");
  EXPECT_EQ(k.instructions[0].operands[0].elements[0].name, k.variables[0].name);
}

TEST(ScopesTest, OnlyNamedRegistersExist) {
  const Module module = parse_good(".version 8.0 .target sm_80 .entry k {\n"
                                   ".reg .b32 %r<4000000000>, %x, %a1<3>;\n"
                                   "add.s32 %r3999999999, %r0, %a12; ret; }");
  const Function& k = *module.find_function("k");
  std::vector<std::string> names;
  for (const Register& reg : k.registers)
    names.push_back(reg.name);
  EXPECT_THAT(names, ElementsAre("%x", "%r3999999999", "%r0", "%a12"));
}

TEST(ScopesTest, RangesEndWhereTheySay) {
  EXPECT_NE(error_of(in_kernel("mov.u32 %r10, 1;")), "");
  EXPECT_NE(error_of(in_kernel("mov.u32 %r01, 1;")), "");
  EXPECT_EQ(error_of(in_kernel("mov.u32 %r9, 1;")), "");
}

TEST(ScopesTest, BranchTables) {
  const Function k = kernel("table: .branchtargets A, B, DONE;\n"
                            "brx.idx %r1, table;\nA: exit;\nB: exit;");
  EXPECT_THAT(k.branch_targets.at("table"), ElementsAre("A", "B", "DONE"));
  EXPECT_EQ(k.instructions[0].operands[1].name, "table");
  EXPECT_EQ(k.labels.at("B"), 2U);
}

} // namespace
} // namespace kernevo::ptx
