#include "kernevo/sass/disassemble.h"
#include "kernevo/toolchain/assembled.h"

#include "kernevo/base/files.h"
#include "kernevo/sass/flow.h"
#include "kernevo/sass/opcode_table.h"
#include "kernevo/sass/parse_listing.h"
#include "toolchain_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::sass {
namespace {

std::string fixture(const std::string& name) {
  const auto text = read_text_file(test_folder("unit/sass") + "/fixtures/" + name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

std::size_t count_of(const SassFunction& function, const std::string& opcode) {
  return static_cast<std::size_t>(
      std::count_if(function.instructions.begin(), function.instructions.end(),
                    [&](const SassInstruction& i) { return i.opcode == opcode; }));
}

TEST(ParseListing, ReadsFunctionsLinesTargetsAndControl) {
  const auto module = parse_listing(fixture("scale_sum.sm_80.sass"));
  ASSERT_TRUE(module) << format_error(module.error());
  EXPECT_EQ(module->architecture, "sm_80");
  ASSERT_EQ(module->functions.size(), 1U);
  const SassFunction& function = module->functions.front();
  EXPECT_EQ(function.name, "scale_sum");
  EXPECT_TRUE(function.is_kernel);
  EXPECT_EQ(count_of(function, "LDG"), 7U) << "unrolled by four, two and one";
  const SassInstruction& load = function.instructions.at(0x140 / 16);
  EXPECT_EQ(load.opcode, "LDG");
  EXPECT_EQ(load.offset, 0x140U);
  EXPECT_EQ(load.ptx_line, 29);
  EXPECT_TRUE(load.control.write_barrier);
  const SassInstruction& branch = function.instructions.at(0x200 / 16);
  EXPECT_EQ(branch.target, 0x120U);
  EXPECT_TRUE(branch.guard && branch.guard->negated);
}

TEST(ParseListing, ReadsCallsIndirectBranchesAndInnerFunctions) {
  const auto module = parse_listing(fixture("dot.sm_80.sass"));
  ASSERT_TRUE(module) << format_error(module.error());
  const SassFunction* dot = module->find("dot");
  ASSERT_NE(dot, nullptr);
  ASSERT_EQ(dot->symbols.size(), 2U);
  EXPECT_EQ(dot->symbols[1].name, "$dot$_Z6helperfi");
  const auto call = std::find_if(dot->instructions.begin(), dot->instructions.end(),
                                 [](const SassInstruction& i) { return i.opcode == "CALL"; });
  ASSERT_NE(call, dot->instructions.end());
  EXPECT_EQ(call->target, dot->symbols[1].offset);
  const SassFunction* choose = module->find("sw");
  ASSERT_NE(choose, nullptr);
  const auto jump = std::find_if(choose->instructions.begin(), choose->instructions.end(),
                                 [](const SassInstruction& i) { return i.opcode == "BRX"; });
  ASSERT_NE(jump, choose->instructions.end());
  EXPECT_EQ(jump->indirect_targets.size(), 4U);
}

TEST(ParseListing, SaysWhichLineItDoesNotUnderstand) {
  const auto module = parse_listing("\t.section\t.text.k,\"ax\",@progbits\n/*0000*/ garbage\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::unsupported);
  EXPECT_THAT(module.error().message, testing::HasSubstr("line 2"));
}

TEST(Disassemble, SourceLinesAreBlankedInPlace) {
  EXPECT_EQ(without_source_lines("a;\n\t.loc 1 2 3\n\t.file 1 \"x.cu\"\nb;"), "a;\n\n\nb;");
}

TEST(Disassemble, WithoutADisassemblerItIsUnsupported) {
  Toolchain toolchain;
  toolchain.root = "/nowhere";
  toolchain.ptxas = "/nowhere/ptxas";
  const auto module = disassemble(toolchain, "");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::unsupported);
  EXPECT_THAT(module.error().message, testing::HasSubstr("nvdisasm"));
}

class DisassembleWithTools : public testing::Test {
protected:
  void SetUp() override {
    if (auto found = needed_toolchain({&Toolchain::nvdisasm, &Toolchain::ptxas}))
      toolchain_ = *found;
  }
  Toolchain toolchain_;
};

TEST_F(DisassembleWithTools, EveryArchitectureGivesKnownOpcodesLinesAndFlow) {
  const std::string ptx = fixture("dot.ptx");
  for (const char* architecture :
       {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"}) {
    SCOPED_TRACE(architecture);
    const auto module = disassemble(toolchain_, ptx, {architecture, {}, std::nullopt});
    ASSERT_TRUE(module) << format_error(module.error());
    ASSERT_EQ(module->functions.size(), 2U);
    for (const SassFunction& function : module->functions) {
      EXPECT_TRUE(function.is_kernel);
      const Flow flow = find_flow(function);
      EXPECT_TRUE(flow.complete);
      std::size_t lines = 0;
      for (std::size_t k = 0; k < function.instructions.size(); ++k) {
        const SassInstruction& i = function.instructions[k];
        EXPECT_NE(find_opcode(i.opcode), nullptr) << i.text();
        EXPECT_LE(i.control.stall, 15);
        lines += i.ptx_line ? 1 : 0;
      }
      EXPECT_EQ(lines, function.instructions.size());
    }
  }
}

TEST_F(DisassembleWithTools, FlagsReachTheAssembler) {
  const std::string ptx = fixture("dot.ptx");
  const auto fast = disassemble(toolchain_, ptx, {"sm_80", {}, std::nullopt});
  const auto plain = disassemble(toolchain_, ptx, {"sm_80", {"-O0"}, std::nullopt});
  ASSERT_TRUE(fast && plain);
  EXPECT_NE(fast->functions[0].instructions.size(), plain->functions[0].instructions.size());
}

TEST_F(DisassembleWithTools, WrongPtxIsAnInputErrorWithItsLine) {
  std::string ptx = fixture("scale_sum.ptx");
  ptx.replace(ptx.find("fma.rn.f32"), 10, "fma.xx.f32");
  const auto module = disassemble(toolchain_, ptx);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::input);
  ASSERT_TRUE(module.error().place);
  EXPECT_EQ(module.error().place->line, 30);
}

} // namespace
} // namespace kernevo::sass
