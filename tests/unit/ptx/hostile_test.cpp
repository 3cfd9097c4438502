// Inputs made to hurt: each must end quickly, in bounded memory, with a module or an error.
#include "ptx_test_support.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

using testing::HasSubstr;

const std::string kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string repeated(const std::string& text, int count) {
  std::string made;
  made.reserve(text.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    made += text;
  return made;
}

double seconds_to_parse(const std::string& text, const std::string& error) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of(text), HasSubstr(error));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(HostileTest, HundredThousandInstructions) {
  std::string body;
  for (int i = 0; i < 25000; ++i) {
    const std::string n = std::to_string(i);
    body += "L" + n + ": add.s32 %r1, %r2, " + n + ";\nsetp.lt.s32 %p1, %r1, %r2;\n@%p1 bra L" + n +
            ";\nst.global.v4.u32 [%d1+16], {%r1, %r2, %r3, %r4};\n";
  }
  const Function k = kernel(body);
  EXPECT_EQ(k.instructions.size(), 100001U);
  EXPECT_EQ(k.labels.size(), 25001U);
  // Far above what it takes (a quarter of a second): a loaded machine must not fail this.
  EXPECT_LT(seconds_to_parse(in_kernel(body), ""), 5.0);
}

TEST(HostileTest, DeepNesting) {
  constexpr int many = 100000;
  EXPECT_THAT(error_of(in_kernel(repeated("{", many))), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(error_of(in_kernel("mov.u32 %r1, " + repeated("(", many))),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(in_kernel("mov.u32 %r1, " + repeated("-", many))),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(kHeader + ".global .u32 x[4] = " + repeated("{", many)),
              HasSubstr("too many braces"));
  EXPECT_THAT(error_of(kHeader + ".global .u32 x" + repeated("[2]", many)),
              HasSubstr("more than 8 array dimensions"));
  EXPECT_THAT(error_of(kHeader + ".section .x " + repeated("{", many)), HasSubstr("never closed"));
  EXPECT_EQ(error_of(in_kernel("mov.u32 %r1, 0" + repeated("+1", many) + ";")), "");
}

TEST(HostileTest, EnormousDeclarations) {
  EXPECT_EQ(error_of(in_kernel(".reg .b32 %huge<4000000000>; mov.u32 %huge3999999999, 1;")), "");
  EXPECT_THAT(error_of(in_kernel(".reg .b32 %huge<99999999999>;")), HasSubstr("at most"));
  EXPECT_EQ(error_of(kHeader + ".global .b8 x[1000000000000];"), "");
  EXPECT_THAT(error_of(kHeader + ".global .b8 x[1000000][1000000][1000000];"),
              HasSubstr("larger than any memory"));
  EXPECT_THAT(error_of(kHeader + ".global .b8 x[2][999999999] = {{}, {1}};"),
              HasSubstr("more than 256 MiB"));
  EXPECT_THAT(error_of(kHeader + ".file 4000000000 \"x\""), HasSubstr("at most"));
  EXPECT_THAT(error_of(in_kernel(".loc 4000000000 1 1")), HasSubstr("at most"));
}

TEST(HostileTest, LongNames) {
  const std::string name(1 << 20, 'x');
  EXPECT_LT(error_of(in_kernel(name + ".bar;")).size(), 300U);
  EXPECT_LT(error_of(in_kernel("bra " + name + ";")).size(), 300U);
  EXPECT_NE(error_of(in_kernel("mov.u32 %r" + std::string(1 << 20, '0') + ", 1;")), "");
  EXPECT_NE(error_of(in_kernel("add" + repeated(".s32", 100000) + " %r1, %r2, %r3;")), "");
}

TEST(HostileTest, ManyBlocksAndOperands) {
  EXPECT_EQ(error_of(in_kernel(repeated("{}", 100000))), "");
  EXPECT_NE(error_of(in_kernel("add.s32 " + repeated("%r1,", 100000) + "%r1;")), "");
  EXPECT_NE(error_of(in_kernel("mov.b64 {" + repeated("%r1,", 100000) + "%r1}, %d1;")), "");
}

TEST(HostileTest, UnresolvedNamesInDeepBlocksStayCheap) {
  const std::string body = repeated("{", 60) + repeated("bra DONE;\n", 50000) + repeated("}", 60);
  EXPECT_LT(seconds_to_parse(in_kernel(body), ""), 5.0);
}

} // namespace
} // namespace kernevo::ptx
