// The reader of the .ptx test files must refuse what it does not understand: a directive that is
// silently skipped would be a test that checks nothing.
#include "ptx_case.h"
#include "test_folder.h"

#include <gtest/gtest.h>
#include <string>

namespace kernevo::test {
namespace {

Result<PtxFile> read(const std::string& text) {
  const TestFolder folder;
  return read_ptx_file(folder.write("case.ptx", text));
}

std::string error_of(const std::string& text) {
  const auto file = read(text);
  return file ? "" : file.error().message;
}

TEST(PtxCase, ReadsEveryDirective) {
  const auto file = read("// gpu: T4\n"
                         "// kernel: first\n"
                         "// launch: grid 2 block 32,4 shared 64 cooperative\n"
                         "// in a: u32 1*3 4..6\n"
                         "// + 0x10\n"
                         "// inout x: s16 -1 2\n"
                         "// expect x: 3 ?\n"
                         "// value n: f32 -0\n"
                         "// tolerance x: abs 0.5\n"
                         "// kernel: second\n"
                         "// expect-fault: misaligned\n"
                         ".version 8.0\n");
  ASSERT_TRUE(file) << format_error(file.error());
  ASSERT_EQ(file->cases.size(), 2U);
  const Case& first = file->cases[0];
  EXPECT_EQ(first.gpu, "T4");
  EXPECT_EQ(first.grid[0], 2U);
  EXPECT_EQ(first.block[1], 4U);
  EXPECT_EQ(first.shared, 64U);
  EXPECT_TRUE(first.cooperative);
  ASSERT_EQ(first.arguments.size(), 3U);
  EXPECT_EQ(first.arguments[0].initial.size(), 7U);
  EXPECT_EQ(first.arguments[0].initial[6].bits, 16U);
  EXPECT_EQ(first.arguments[1].initial[0].bits, 0xFFFFU);
  EXPECT_TRUE(first.arguments[1].expected[1].any);
  EXPECT_EQ(first.arguments[1].tolerance->abs, 0.5);
  EXPECT_EQ(first.arguments[2].initial[0].bits, 0x80000000U);
  EXPECT_EQ(file->cases[1].gpu, "T4");
  EXPECT_TRUE(file->cases[1].arguments.empty());
  EXPECT_EQ(file->cases[1].fault, "misaligned");
}

TEST(PtxCase, RefusesWhatItDoesNotUnderstand) {
  EXPECT_NE(error_of("// inn a: u32 1\n// out d: u32 1\n").find("unknown directive"),
            std::string::npos);
  EXPECT_NE(error_of("// in a: u33 1\n// out d: u32 1\n").find("unknown element type"),
            std::string::npos);
  EXPECT_NE(error_of("// out d: u8 256\n").find("does not fit"), std::string::npos);
  EXPECT_NE(error_of("// out d: s8 -129\n").find("does not fit"), std::string::npos);
  EXPECT_NE(error_of("// out d: u32 1x\n").find("not a number"), std::string::npos);
  EXPECT_NE(error_of("// out d: u32 1*0\n").find("repeat"), std::string::npos);
  EXPECT_NE(error_of("// out d: u32 5..1\n").find("range"), std::string::npos);
  EXPECT_NE(error_of("// expect x: 1\n").find("no inout argument"), std::string::npos);
  EXPECT_NE(error_of("// out d: f32 1\n// tolerance: parsec 1\n").find("tolerance"),
            std::string::npos);
  EXPECT_NE(error_of("// launch: blocks 3\n").find("launch"), std::string::npos);
  EXPECT_NE(error_of("// in a: u32 1\n").find("checks nothing"), std::string::npos);
  EXPECT_NE(error_of(".version 8.0\n").find("no test directives"), std::string::npos);
  EXPECT_FALSE(read_ptx_file("/nonexistent.ptx"));
}

TEST(PtxCase, ComparesBitsUnlessToldOtherwise) {
  const Value one{0x3F800000U};
  EXPECT_TRUE(matches(Element::f32, one, 0x3F800000U, {}));
  EXPECT_FALSE(matches(Element::f32, one, 0x3F800001U, {}));
  EXPECT_TRUE(matches(Element::f32, one, 0x3F800001U, {.ulp = 1}));
  EXPECT_FALSE(matches(Element::f32, one, 0x3F800002U, {.ulp = 1}));
  EXPECT_FALSE(matches(Element::f32, one, 0x7FC00000U, {.abs = 1e30}));
  EXPECT_FALSE(matches(Element::f32, Value{0U}, 0x80000000U, {}));
  EXPECT_TRUE(matches(Element::f32, Value{0x7FC00000U, false, true}, 0xFFFFFFFFU, {}));
  EXPECT_FALSE(matches(Element::f32, Value{0x7FC00000U, false, true}, 0x7F800000U, {}));
  EXPECT_TRUE(matches(Element::u32, Value{5, true}, 7, {}));
}

} // namespace
} // namespace kernevo::test
