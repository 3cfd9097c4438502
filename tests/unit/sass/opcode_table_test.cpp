#include "kernevo/sass/opcode_table.h"

#include "kernevo/sass/parse_instruction.h"

#include <gtest/gtest.h>

namespace kernevo::sass {
namespace {

TEST(OpcodeTable, KnowsPipesAndClasses) {
  const SassInstruction ffma = parse_instruction("FFMA R0, R1, R2, R3");
  EXPECT_EQ(pipe_of(ffma), Pipe::fma);
  EXPECT_EQ(class_of(ffma), OpClass::fp32);
  EXPECT_EQ(pipe_of(parse_instruction("IMAD.MOV.U32 R0, RZ, RZ, R1")), Pipe::fma_heavy);
  EXPECT_EQ(pipe_of(parse_instruction("MUFU.RSQ R0, R1")), Pipe::xu);
  EXPECT_EQ(class_of(parse_instruction("LDS R0, [R1]")), OpClass::memory);
  EXPECT_EQ(class_of(parse_instruction("SHFL.BFLY PT, R0, R1, 0x1, 0x1f")), OpClass::inter_thread);
}

// As counters recorded on an RTX 2080 Ti have it.
TEST(OpcodeTable, ReadsThreadIndexThroughTheLoadStorePipe) {
  EXPECT_EQ(pipe_of(parse_instruction("S2R R0, SR_TID.X")), Pipe::lsu);
  EXPECT_EQ(pipe_of(parse_instruction("S2R R0, SR_CTAID.X")), Pipe::adu);
  EXPECT_EQ(class_of(parse_instruction("BAR.SYNC 0x0")), OpClass::misc);
}

TEST(OpcodeTable, NamesEveryClass) {
  EXPECT_STREQ(name_of(OpClass::predicate), "predicate");
  EXPECT_STREQ(name_of(OpClass::other), "other");
}

TEST(OpcodeTable, UnknownOpcodeIsOtherAndFoundNowhere) {
  const SassInstruction unknown = parse_instruction("FROB.X R0, R1");
  EXPECT_EQ(find_opcode("FROB"), nullptr);
  EXPECT_EQ(pipe_of(unknown), Pipe::other);
  EXPECT_EQ(class_of(unknown), OpClass::other);
}

} // namespace
} // namespace kernevo::sass
