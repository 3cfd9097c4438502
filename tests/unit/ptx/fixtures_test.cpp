// What nvcc 13 makes of small kernels, compiled once and kept in data/.
#include "kernevo/ptx/parse.h"
#include "ptx_test_support.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

using testing::Contains;

std::vector<Opcode> opcodes(const Function& function) {
  std::vector<Opcode> made;
  for (const Instruction& instruction : function.instructions)
    made.push_back(instruction.opcode);
  return made;
}

const Function& entry(const Module& module) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [](const Function& function) { return function.is_entry; });
  static const Function none;
  return found == module.functions.end() ? none : *found;
}

TEST(FixturesTest, CallsAndPrintf) {
  const Module module = parse_good(read_data("calls_and_printf.ptx"));
  EXPECT_TRUE(module.find_function("vprintf")->is_declaration);
  const Function& k = entry(module);
  EXPECT_THAT(*k.max_threads, testing::ElementsAre(256, 1, 1));
  EXPECT_EQ(k.min_blocks, 2U);
  EXPECT_EQ(std::count_if(k.instructions.begin(), k.instructions.end(),
                          [](const Instruction& i) { return i.opcode == Opcode::call; }),
            3);
  EXPECT_EQ(k.prototypes.size(), 1U);
  const auto entries =
      std::find_if(module.variables.begin(), module.variables.end(),
                   [](const Variable& variable) { return variable.name == "entries"; });
  ASSERT_NE(entries, module.variables.end());
  EXPECT_EQ(entries->relocations.size(), 2U);
  EXPECT_EQ(entries->initial.size(), 32U);
}

TEST(FixturesTest, TensorCores) {
  const Module module = parse_good(read_data("tensor_cores.ptx"));
  const Function& k = entry(module);
  for (const Opcode opcode : {Opcode::wmma_load, Opcode::wmma_mma, Opcode::wmma_store,
                              Opcode::cp_async, Opcode::cp_async_wait_group, Opcode::bar_sync})
    EXPECT_THAT(opcodes(k), Contains(opcode)) << name_of(opcode);
  // Header code is inlined: every instruction belongs to a line of the kernel itself.
  for (const Instruction& instruction : k.instructions) {
    EXPECT_EQ(module.files[instruction.source.file], "tensor_cores.cu") << instruction.line;
    EXPECT_LE(instruction.source.line, 24U);
    EXPECT_GE(instruction.source.line, 5U);
  }
}

TEST(FixturesTest, InlineAssembly) {
  const Module module = parse_good(read_data("inline_asm.ptx"));
  EXPECT_EQ(entry(module).labels.size(), 2U);
  const Module debug = parse_good(read_data("debug_info.ptx"));
  EXPECT_EQ(debug.target, "sm_90a");
  EXPECT_GT(entry(debug).labels.size(), 2U);
}

TEST(FixturesTest, Switch) {
  EXPECT_FALSE(entry(parse_good(read_data("branch_table.ptx"))).labels.empty());
}

// Cut anywhere, a module parses or fails with a message and a place; it never does anything else.
class Truncated : public testing::TestWithParam<const char*> {};

TEST_P(Truncated, EveryPrefixEndsCleanly) {
  const std::string text = read_data(GetParam());
  ASSERT_FALSE(text.empty());
  int good = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Result<Module> parsed = parse(std::string_view(text).substr(0, size));
    good += parsed ? 1 : 0;
    if (parsed)
      continue;
    ASSERT_FALSE(parsed.error().message.empty()) << size;
    ASSERT_TRUE(parsed.error().place) << size;
    ASSERT_GE(parsed.error().place->line, 1) << size;
  }
  EXPECT_GT(good, 0); // the header alone is a module
  EXPECT_LT(good, static_cast<int>(text.size()));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Truncated,
                         testing::Values("calls_and_printf.ptx", "inline_asm.ptx",
                                         "branch_table.ptx", "debug_info.ptx"));

} // namespace
} // namespace kernevo::ptx
