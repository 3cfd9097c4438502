// What kernevo knows of every machine opcode: which execution pipe issues it, which class the
// hardware's profiler counts it in, what it writes, what memory it touches.
#pragma once

#include "kernevo/sass/sass.h"

#include <string_view>

namespace kernevo::sass {

enum class Pipe {
  fma,       // FADD, FMUL, FFMA: every lane of the FP32 pipe
  fma_heavy, // IMAD, IDP: the half of the FP32 pipe that has an integer multiplier
  alu,       // integer, logic, comparison, selection
  fp16,
  fp64,
  xu,      // transcendental, conversion, bit counting
  lsu,     // loads, stores, shuffles
  tex,     // textures and surfaces
  tensor,  // matrix multiply
  uniform, // the scalar datapath of a warp
  cbu,     // branches and convergence
  adu,     // barriers, indexed constants, address divergence
  other,   // an opcode this table does not know, or one that no pipe executes (NOP)
};

// As in smsp__sass_thread_inst_executed_op_<class>_pred_on.
enum class OpClass {
  fp16,
  fp32,
  fp64,
  integer,
  conversion,
  control,
  memory,
  inter_thread,
  misc,
  uniform, // the uniform datapath: the profiler counts it in no thread-level class
  tensor,
  predicate, // PLOP3 and its kind: in no thread-level class either
  other,     // unknown opcode
};

const char* name_of(Pipe pipe);
const char* name_of(OpClass op_class);

// How many of the leading operands are written.
enum class Writes {
  none,
  first,           // R0 (after an optional predicate: LOP3 P0, R0, ...)
  first_and_carry, // R0 and the predicates right behind it (IADD3 R0, P0, P1, ...)
  two_predicates,  // ISETP P0, P1, ...
  all_but_last,    // VOTE.ANY R0, P0, P1
};

struct OpcodeInfo {
  std::string_view opcode;
  Pipe pipe = Pipe::other;
  OpClass op_class = OpClass::other;
  Writes writes = Writes::first;
};

// The row of an opcode; null when the table does not know it.
const OpcodeInfo* find_opcode(std::string_view opcode);

// threadIdx is kept where shared memory is; reading it takes a pass there. Other special registers
// do not (both as counters recorded on an RTX 2080 Ti have it).
bool reads_thread_index(const SassInstruction& instruction);

Pipe pipe_of(const SassInstruction& instruction);
OpClass class_of(const SassInstruction& instruction);

} // namespace kernevo::sass
