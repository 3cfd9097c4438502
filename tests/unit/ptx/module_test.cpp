#include "ptx_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

using testing::ElementsAre;

const std::string kHeader = ".version 8.0\n.target sm_90a, texmode_independent\n.address_size 64\n";

const Variable& variable(const Module& module, const std::string& name) {
  for (const Variable& candidate : module.variables)
    if (candidate.name == name)
      return candidate;
  ADD_FAILURE() << name;
  static const Variable none;
  return none;
}

TEST(ModuleTest, Header) {
  const Module module = parse_good(kHeader);
  EXPECT_EQ(module.version_major, 8);
  EXPECT_EQ(module.version_minor, 0);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.compute_capability, 90);
  EXPECT_EQ(module.address_size, 64);
  EXPECT_EQ(parse_good(".version 9.2 .target sm_120a").compute_capability, 120);
}

TEST(ModuleTest, TrailingNulIsPartOfWhatNvrtcReturns) {
  EXPECT_EQ(parse_good(kHeader + std::string(1, '\0')).compute_capability, 90);
}

TEST(ModuleTest, ArraysAndInitialValues) {
  const Module module =
      parse_good(kHeader + ".global .align 16 .b8 bytes[8] = {1, 0xFF, 0b11, 017};\n"
                           ".const .u16 grid[2][3] = {{1, 2, 3}, {4, -1}};\n"
                           ".global .f32 reals[3] = {0f3F800000, 2.0, -1.5};\n"
                           ".global .f64 d = 0d4000000000000000;\n"
                           ".global .v2 .u32 v[2] = {{1, 2}, {3, 4}};\n"
                           ".global .u32 open[] = {1, 2, 3};\n"
                           ".global .u32 expression = (1 << 4) | 3 * 2;\n");
  const Variable& bytes = variable(module, "bytes");
  EXPECT_EQ(bytes.bytes, 8U);
  EXPECT_EQ(bytes.alignment, 16U);
  EXPECT_THAT(bytes.initial, ElementsAre(1, 255, 3, 15));
  const Variable& grid = variable(module, "grid");
  EXPECT_EQ(grid.space, Space::constant);
  EXPECT_EQ(grid.bytes, 12U);
  EXPECT_EQ(grid.alignment, 2U);
  EXPECT_THAT(grid.initial, ElementsAre(1, 0, 2, 0, 3, 0, 4, 0, 255, 255));
  EXPECT_THAT(variable(module, "reals").initial,
              ElementsAre(0, 0, 0x80, 0x3F, 0, 0, 0, 0x40, 0, 0, 0xC0, 0xBF));
  EXPECT_THAT(variable(module, "d").initial, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0x40));
  const Variable& v = variable(module, "v");
  EXPECT_EQ(v.bytes, 16U);
  EXPECT_EQ(v.alignment, 8U);
  EXPECT_THAT(v.initial, ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0));
  EXPECT_EQ(variable(module, "open").bytes, 12U);
  EXPECT_EQ(variable(module, "expression").initial.front(), 22);
}

TEST(ModuleTest, AddressesAsInitialValues) {
  const Module module =
      parse_good(kHeader + ".global .u32 x[4];\n"
                           ".global .u64 p[3] = {7, generic(x)+8, x};\n"
                           ".global .b8 packed[12] = {9, 0, 0, 0, 0xFF(x), 0xFF00(x), 0xFF0000(x), "
                           "0xFF000000(x), 0xFF00000000(x), 0xFF0000000000(x), "
                           "0xFF000000000000(x), 0xFF00000000000000(x)};\n");
  const auto& p = variable(module, "p").relocations;
  ASSERT_EQ(p.size(), 2U);
  EXPECT_EQ(p[0].at, 8U);
  EXPECT_EQ(p[0].symbol, "x");
  EXPECT_EQ(p[0].addend, 8);
  EXPECT_TRUE(p[0].generic);
  EXPECT_EQ(p[1].at, 16U);
  EXPECT_FALSE(p[1].generic);
  const auto& packed = variable(module, "packed").relocations;
  ASSERT_EQ(packed.size(), 1U);
  EXPECT_EQ(packed[0].at, 4U);
}

TEST(ModuleTest, ExternAndUnsized) {
  const Module module = parse_good(kHeader + ".extern .shared .align 16 .b8 dynamic[];\n"
                                             ".visible .global .attribute(.managed) .u32 m;\n"
                                             ".weak .global .u32 w;\n.common .global .u32 c;\n");
  const Variable& dynamic = variable(module, "dynamic");
  EXPECT_TRUE(dynamic.is_extern);
  EXPECT_TRUE(dynamic.unsized);
  EXPECT_EQ(dynamic.bytes, 0U);
  EXPECT_EQ(dynamic.alignment, 16U);
  EXPECT_EQ(module.variables.size(), 4U);
}

TEST(ModuleTest, EntriesAndTheirDirectives) {
  const Module module = parse_good(
      kHeader +
      ".visible .entry k(.param .u64 .ptr .global .align 8 a, .param .align 4 .b8 s[12])\n"
      ".maxntid 256, 2\n.reqntid 64\n.minnctapersm 2\n.maxnreg 40\n.maxclusterrank 8\n"
      ".pragma \"nounroll\";\n{ ret; }\n");
  const Function* k = module.find_function("k");
  ASSERT_NE(k, nullptr);
  EXPECT_TRUE(k->is_entry);
  ASSERT_EQ(k->parameters.size(), 2U);
  EXPECT_EQ(k->parameters[0].name, "a");
  EXPECT_EQ(k->parameters[0].bytes, 8U);
  EXPECT_EQ(k->parameters[1].bytes, 12U);
  EXPECT_EQ(k->parameters[1].alignment, 4U);
  EXPECT_THAT(*k->max_threads, ElementsAre(256, 2, 1));
  EXPECT_THAT(*k->required_threads, ElementsAre(64, 1, 1));
  EXPECT_EQ(k->min_blocks, 2U);
  EXPECT_EQ(k->max_registers, 40U);
}

TEST(ModuleTest, DeclarationGivesWayToDefinition) {
  const Module module =
      parse_good(kHeader + ".func (.param .b32 r) f (.param .b32 a);\n"
                           ".extern .func vprintf (.param .b64 a, .param .b64 b);\n"
                           ".func (.param .b32 r) f (.param .b32 a) { ret; }\n");
  ASSERT_EQ(module.functions.size(), 2U);
  EXPECT_FALSE(module.find_function("f")->is_declaration);
  EXPECT_TRUE(module.find_function("vprintf")->is_declaration);
  EXPECT_EQ(module.find_function("vprintf")->parameters.size(), 2U);
  EXPECT_EQ(module.find_function("g"), nullptr);
}

TEST(ModuleTest, SectionsAndPragmasAreSkipped) {
  const Module module =
      parse_good(kHeader + ".pragma \"x\";\n"
                           ".section .debug_info { .b8 1, {2} \n .b32 .debug+4 }\n"
                           ".global .u32 after;\n.file 2 \"k.cu\", 10, 20\n");
  EXPECT_EQ(module.variables.size(), 1U);
  EXPECT_THAT(module.files, ElementsAre("", "", "k.cu"));
}

} // namespace
} // namespace kernevo::ptx
