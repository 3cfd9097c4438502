// What a user sees for each kind of mistake.
#include "kernevo/base/result.h"
#include "kernevo/ptx/parse.h"
#include "ptx_test_support.h"

#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

const std::string kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct Case {
  const char* text;
  const char* message;
};

// In a kernel; the message without its place, which is the line of the instruction.
class BadInstruction : public testing::TestWithParam<Case> {};

TEST_P(BadInstruction, IsNamed) {
  const Result<Module> parsed = parse(in_kernel(GetParam().text));
  ASSERT_FALSE(parsed) << GetParam().text;
  EXPECT_EQ(parsed.error().message, GetParam().message);
  ASSERT_TRUE(parsed.error().place);
  EXPECT_EQ(parsed.error().place->line, kFirstLine);
  EXPECT_GT(parsed.error().place->column, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Errors, BadInstruction,
    testing::Values(
        Case{"foo.bar %r1;", "unknown instruction 'foo.bar'"},
        Case{"add.foo.s32 %r1, %r2, %r3;", "unknown modifier '.foo' in 'add.foo.s32'"},
        Case{"add.row.s32 %r1, %r2, %r3;", "'add.row.s32': 'add' does not take modifier '.row'"},
        Case{"add.b32 %r1, %r2, %r3;", "'add.b32': 'add' does not take type '.b32'"},
        Case{"add %r1, %r2, %r3;", "'add': 'add' does not take 0 types"},
        Case{"add.sat.u32 %r1, %r2, %r3;", "'add.sat.u32' is not a known form of 'add'"},
        Case{"mul.s32 %r1, %r2, %r3;", "'mul.s32' is not a known form of 'mul'"},
        Case{"setp.ltu.s32 %p1, %r1, %r2;", "'setp.ltu.s32' is not a known form of 'setp'"},
        Case{"cvta.u64 %d1, %d2;", "'cvta.u64': 'cvta' needs a state space"},
        Case{"add.s32 %r1, %r2;", "'add.s32' takes 3 operands, not 2"},
        Case{"bar.sync;", "'bar.sync' takes 1 to 2 operands, not 0"},
        Case{"add.s32 %r1, %r2, %d3;", "'add.s32': register %d3 is .b64, but .s32 is needed"},
        Case{"add.u32 %f1, %r2, %r3;", "'add.u32': register %f1 is .f32, but .u32 is needed"},
        Case{"ld.global.u64 %r1, [%d1];",
             "'ld.global.u64': register %r1 is .b32, but .u64 is needed"},
        Case{"st.global.u64 [%d1], %r1;",
             "'st.global.u64': register %r1 is .b32, but .u64 is needed"},
        Case{"add.s32 5, %r2, %r3;", "'add.s32': the destination must be a register"},
        Case{"add.s32 %r1, %r2, 1.5;", "'add.s32': a floating-point literal cannot be .s32"},
        Case{"add.f32 %f1, %f2, 1;", "'add.f32': an integer literal cannot be .f32"},
        Case{"add.u32 %r1, %tid.x, 1;",
             "'add.u32': a special register can only be read by mov and cvt"},
        Case{"mov.u32 %r1, %tid;", "'%tid' needs a component such as .x"},
        Case{"mov.u32 %r1, %r10;", "unknown register '%r10'"},
        Case{"mov.u64 %d1, nowhere;", "unknown name 'nowhere'"},
        Case{"mov.u64 %d1, DONE;", "label 'DONE' cannot be used as a value"},
        Case{"bra nowhere;", "label 'nowhere' is not defined in 'k'"},
        Case{"bra %r1;", "'bra': this operand must be a label"},
        Case{"call nowhere;", "unknown name 'nowhere'"}, Case{"call P;", "'P' cannot be called"},
        Case{"call callee, (Q);", "the call passes 1 arguments, but the function takes 0"},
        Case{"@%r1 exit;", "'%r1' is not a predicate register"},
        Case{"ld.shared.b32 %r1, [P];", "'P' is in .param, not in .shared"},
        Case{"st.param.b32 [P], %r1;", "the kernel's parameter 'P' cannot be written"},
        Case{"ld.global.u32 %r1, %d1;", "'ld.global.u32': an address in brackets is needed"},
        Case{"ld.global.u32 %r1, [%f1];",
             "'ld.global.u32': register %f1 is .f32 and cannot hold an address"},
        Case{"ld.global.v4.u32 {%r1, %r2}, [%d1];",
             "'ld.global.v4.u32': a vector of 4 is needed, not of 2"},
        Case{"ld.global.v2.u32 %r1, [%d1];",
             "'ld.global.v2.u32': a vector of 2 is needed, in braces"},
        Case{"ld.global.u32 {%r1, %r2}, [%d1];", "'ld.global.u32': a vector cannot stand here"},
        Case{"cp.async.cg.shared.global [%r1], [%d1], 8;",
             "'cp.async.cg.shared.global' cannot copy 8 bytes at once"},
        Case{"lop3.b32 %r1, %r2, %r3, %r4, 256;", "'lop3.b32': the look-up table must be 0 to 255"},
        Case{"bar.sync 16;", "'bar.sync': there is no barrier 16, only 0 to 15"},
        Case{"bar.sync 0, 33;", "'bar.sync': the number of threads must be a multiple of 32"},
        Case{"mov.u64 %d1, 18446744073709551616;",
             "'18446744073709551616' is not a number PTX can hold"},
        Case{"mov.f32 %f1, 0f3F80;", "'0f3F80' is not a number PTX can hold"},
        Case{"mov.u32 %r1, 1/0;", "division by zero in a constant expression"},
        Case{".reg .b32 %r<4>;", "'%r' is declared twice"},
        Case{".shared .align 3 .b8 x[4];", "the alignment 3 is not a power of two"},
        Case{".shared .b8 x[];", "the size of 'x' is missing"}));

TEST(ErrorsTest, TheWholeLineNamesPlaceAndInstruction) {
  EXPECT_EQ(error_of(in_kernel("exit;\n  foo.bar %r1;")),
            "<ptx>:11:3: unknown instruction 'foo.bar'");
  const Result<Module> parsed = parse(in_kernel("foo.bar;"), "k.ptx");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::unsupported);
  EXPECT_EQ(parsed.error().place->file, "k.ptx");
  EXPECT_EQ(parse(in_kernel("add.s32 %r1;")).error().code, ErrorCode::input);
}

TEST(ErrorsTest, FoundOnTheNextLine) {
  EXPECT_EQ(error_of(in_kernel("add.s32 %r1, %r2, %r3")),
            "<ptx>:11:1: expected ',' or ';', found 'DONE'");
  EXPECT_EQ(error_of(in_kernel("DONE: exit;")), "<ptx>:11:1: 'DONE' is declared twice");
}

TEST(ErrorsTest, OlderVersionIsNamed) {
  EXPECT_EQ(error_of(in_kernel("discard.global.L2 [%d1], 128;", "sm_80", "7.0")),
            "<ptx>:10:1: 'discard.global.L2' needs PTX 7.4 or newer, but .version is 7.0");
}

TEST(ErrorsTest, ModuleLevel) {
  EXPECT_EQ(error_of(""), "<ptx>:1:1: expected '.version' first, found end of file");
  EXPECT_EQ(error_of(".version 8\n"), "<ptx>:1:10: expected a version such as 8.0, found '8'");
  EXPECT_EQ(error_of(".version 8.0\n.target sm_x"), "<ptx>:2:9: unknown target 'sm_x'");
  EXPECT_EQ(error_of(".version 8.0\n.target sm_80\n.address_size 32"),
            "<ptx>:3:15: only 64-bit addresses are supported, not 32");
  EXPECT_EQ(error_of(kHeader + ".entry k { exit;"), "<ptx>:4:10: the body of 'k' is never closed");
  EXPECT_EQ(error_of(kHeader + ".entry k { } .entry k { }"),
            "<ptx>:4:21: 'k' is defined twice, first in line 4");
  EXPECT_EQ(error_of(kHeader + ".global .u32 x;\n.global .u32 x;"),
            "<ptx>:5:14: 'x' is declared twice, first in line 4");
  EXPECT_EQ(error_of(kHeader + ".global .u32 x[2] = {1, 2, 3};"),
            "<ptx>:4:28: too many initial values");
  EXPECT_EQ(error_of(kHeader + ".alias a, b;"),
            "<ptx>:4:13: the alias 'a' stands for 'b', which is not defined in this module");
  EXPECT_EQ(error_of(kHeader + "/* open"),
            "<ptx>:4:1: expected a directive, found unclosed comment");
  EXPECT_EQ(error_of(kHeader + std::string("a\0b", 3)),
            "<ptx>:4:1: expected a directive, found 'a'");
  EXPECT_EQ(error_of(kHeader + std::string("\0b", 2)),
            "<ptx>:4:1: expected a directive, found '\\x00'");
}

} // namespace
} // namespace kernevo::ptx
