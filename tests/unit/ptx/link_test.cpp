#include "kernevo/ptx/link.h"

#include "kernevo/ptx/parse.h"

#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

constexpr const char* kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

Result<Module> link_texts(const std::vector<std::string>& texts) {
  std::vector<Module> modules;
  for (const std::string& text : texts) {
    auto parsed = parse(kHeader + text, "part.ptx");
    if (!parsed)
      return tl::unexpected(parsed.error());
    modules.push_back(std::move(*parsed));
  }
  return link(std::move(modules));
}

std::string callee_of(const Module& module, const std::string& caller) {
  for (const Instruction& instruction : module.find_function(caller)->instructions)
    if (instruction.opcode == Opcode::call)
      return instruction.operands[1].name;
  return "";
}

const Variable* variable(const Module& module, const std::string& name) {
  for (const Variable& found : module.variables)
    if (found.name == name)
      return &found;
  return nullptr;
}

TEST(Link, DefinitionsTakeThePlaceOfDeclarations) {
  const auto module = link_texts({R"(
.extern .func helper;
.extern .global .align 4 .u32 counter;
.visible .entry k() { call helper; ret; })",
                                  R"(
.visible .global .align 4 .u32 counter = 7;
.visible .func helper { ret; })"});
  ASSERT_TRUE(module.has_value()) << format_error(module.error());
  EXPECT_EQ(module->functions.size(), 2U);
  EXPECT_FALSE(module->find_function("helper")->is_declaration);
  ASSERT_NE(variable(*module, "counter"), nullptr);
  EXPECT_FALSE(variable(*module, "counter")->is_extern);
  EXPECT_EQ(variable(*module, "counter")->initial.at(0), 7);
}

TEST(Link, WhatIsLocalStaysApart) {
  const auto module = link_texts({R"(
.global .u32 state = 1;
.func own { .reg .u32 %r; ld.global.u32 %r, [state]; ret; }
.visible .entry first() { call own; ret; })",
                                  R"(
.global .u32 state = 2;
.func own { .reg .u32 %r; ld.global.u32 %r, [state]; ret; }
.visible .entry second() { call own; ret; })"});
  ASSERT_TRUE(module.has_value()) << format_error(module.error());
  const std::string one = callee_of(*module, "first");
  const std::string two = callee_of(*module, "second");
  EXPECT_NE(one, two);
  for (const auto& [function, value] : {std::pair(one, 1), std::pair(two, 2)}) {
    const Function* found = module->find_function(function);
    ASSERT_NE(found, nullptr);
    const std::string& read = found->instructions.front().operands[1].elements[0].name;
    ASSERT_NE(variable(*module, read), nullptr) << read;
    EXPECT_EQ(variable(*module, read)->initial.at(0), value);
  }
}

TEST(Link, ALocalNameGivesWayToAVisibleOne) {
  const auto module = link_texts({R"(
.func own { ret; }
.visible .entry first() { call own; ret; })",
                                  R"(
.visible .func own { trap; ret; }
.visible .entry second() { call own; ret; })"});
  ASSERT_TRUE(module.has_value()) << format_error(module.error());
  EXPECT_EQ(callee_of(*module, "second"), "own");
  EXPECT_NE(callee_of(*module, "first"), "own");
  EXPECT_EQ(module->find_function("own")->instructions.front().opcode, Opcode::trap);
}

TEST(Link, TheFirstWeakDefinitionStays) {
  const auto module = link_texts({".weak .func f { ret; }", ".weak .func f { trap; ret; }"});
  ASSERT_TRUE(module.has_value()) << format_error(module.error());
  EXPECT_EQ(module->functions.size(), 1U);
  EXPECT_EQ(module->find_function("f")->instructions.front().opcode, Opcode::ret);
}

TEST(Link, SharedVariablesOfBodiesStayApart) {
  const std::string body =
      R"( { .shared .b32 tile[8]; .reg .u32 %r; ld.shared.u32 %r, [tile]; ret; })";
  const auto module =
      link_texts({".visible .entry first()" + body, ".visible .entry second()" + body});
  ASSERT_TRUE(module.has_value()) << format_error(module.error());
  EXPECT_NE(module->find_function("first")->variables.at(0).name,
            module->find_function("second")->variables.at(0).name);
}

TEST(Link, TwoDefinitionsAreAnError) {
  const auto module =
      link_texts({".visible .func twice { ret; }", ".visible .func twice { ret; }"});
  ASSERT_FALSE(module.has_value());
  EXPECT_NE(module.error().message.find("'twice'"), std::string::npos);
}

TEST(Link, SourceFilesKeepTheirNumbers) {
  const auto module = link_texts({R"(
.visible .entry first() { .loc 1 5 1
 ret; }
.file 1 "a.cu")",
                                  R"(
.visible .entry second() { .loc 1 9 1
 ret; }
.file 1 "b.cu")"});
  ASSERT_TRUE(module.has_value()) << format_error(module.error());
  const SourceLine line = module->find_function("second")->instructions.front().source;
  EXPECT_EQ(module->files.at(line.file), "b.cu");
  EXPECT_EQ(line.line, 9U);
}

} // namespace
} // namespace kernevo::ptx
