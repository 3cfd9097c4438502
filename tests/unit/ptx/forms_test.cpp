// Whole instructions, one a line in data/: ptxas 13 accepts every one of them.
#include "kernevo/ptx/forms.h"
#include "kernevo/ptx/names.h"
#include "ptx_test_support.h"

#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace kernevo::ptx {
namespace {

std::set<Opcode> parse_lines(const std::string& name, const std::string& target, int& count) {
  std::istringstream lines(read_data(name));
  std::set<Opcode> seen;
  for (std::string line; std::getline(lines, line); ++count) {
    const std::string text = in_kernel(line, target);
    EXPECT_EQ(error_of(text), "") << line;
    const Module module = parse_good(text);
    const Function* function = module.find_function("k");
    if (function == nullptr || function->instructions.empty())
      continue;
    seen.insert(function->instructions.front().opcode);
  }
  return seen;
}

TEST(Forms, EveryListedFormParses) {
  int count = 0;
  std::set<Opcode> seen = parse_lines("forms_sm80.txt", "sm_80", count);
  seen.merge(parse_lines("forms_sm90.txt", "sm_90a", count));
  EXPECT_GE(count, 800);
  for (std::size_t i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const bool listed = seen.contains(opcode) || opcode == Opcode::brx_idx; // it needs a table
    EXPECT_TRUE(listed) << name_of(opcode) << " has no line in data/";
  }
}

TEST(Forms, NewerFormsAreRefusedOnOlderTargets) {
  std::istringstream lines(read_data("forms_sm90.txt"));
  int refused = 0;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    refused +=
        error_of(in_kernel(line, "sm_75")).find("needs .target sm_") != std::string::npos ? 1 : 0;
  // A few lines only use a newer spelling of what sm_75 has.
  EXPECT_GE(refused, count * 3 / 4);
}

TEST(Forms, EveryOpcodeHasARow) {
  for (std::size_t i = 0; i < kOpcodeCount; ++i)
    EXPECT_FALSE(forms_of(static_cast<Opcode>(i)).empty()) << name_of(static_cast<Opcode>(i));
}

TEST(Forms, EveryRowUsesKnownNamesOnly) {
  for (const FormRow& row : instruction_rows()) {
    for (const Form& form : forms_of(row.opcode)) {
      for (const ModifierGroup& group : form.modifiers)
        EXPECT_TRUE(group.any_of.any()) << name_of(row.opcode);
      for (const TypeSet types : form.types)
        EXPECT_NE(types, 0U) << name_of(row.opcode);
      for (const OperandRule& rule : form.operands) {
        const bool typed =
            rule.role == OperandRule::Role::destination || rule.role == OperandRule::Role::source;
        EXPECT_TRUE(!typed || rule.slot >= 0 || rule.type != Type::none) << name_of(row.opcode);
        EXPECT_LT(rule.slot, static_cast<int>(form.types.size())) << name_of(row.opcode);
      }
      EXPECT_LE(form.modifiers.size(), 32U) << name_of(row.opcode);
    }
  }
}

} // namespace
} // namespace kernevo::ptx
