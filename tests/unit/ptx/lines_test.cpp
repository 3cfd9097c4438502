#include "ptx_test_support.h"

#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

SourceLine source(const Function& function, std::size_t i) {
  return i < function.instructions.size() ? function.instructions[i].source : SourceLine{};
}

TEST(LinesTest, LocAppliesUntilTheNext) {
  const Function k = kernel("exit;\n.loc 1 7 3\nexit; exit;\n.loc 2 9 1\nexit;");
  EXPECT_EQ(source(k, 0), (SourceLine{0, 0}));
  EXPECT_EQ(source(k, 1), (SourceLine{1, 7}));
  EXPECT_EQ(source(k, 2), (SourceLine{1, 7}));
  EXPECT_EQ(source(k, 3), (SourceLine{2, 9}));
}

TEST(LinesTest, InlinedCodeBelongsToTheOutermostLine) {
  const Function k = kernel(".loc 1 13 3\n"
                            ".loc 2 449 9, function_name $L__info_string0, inlined_at 1 13 3\n"
                            ".loc 3 80 5, function_name $L__info_string0+7, inlined_at 2 449 9\n"
                            "exit;\n"
                            ".loc 4 1 1, function_name $L__info_string0, inlined_at 3 80 5\n"
                            "exit;\n");
  EXPECT_EQ(source(k, 0), (SourceLine{1, 13}));
  EXPECT_EQ(source(k, 1), (SourceLine{1, 13}));
}

TEST(LinesTest, UnknownInlinedAtIsItselfTheOutermost) {
  const Function k = kernel(".loc 2 5 1, function_name f, inlined_at 1 20 2\nexit;");
  EXPECT_EQ(source(k, 0), (SourceLine{1, 20}));
}

TEST(LinesTest, LineZeroKeepsTheLastLine) {
  EXPECT_EQ(source(kernel(".loc 1 7 3\n.loc 1 0 3\nexit;"), 0), (SourceLine{1, 7}));
}

TEST(LinesTest, EveryFileIndexIsInRange) {
  const Module module = parse_good(in_kernel(".loc 9 1 1\nexit;"));
  EXPECT_EQ(module.files.size(), 10U);
}

} // namespace
} // namespace kernevo::ptx
