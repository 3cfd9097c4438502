// Registers that are passed to functions: a vector or a predicate goes through memory.
#pragma once

#include "kernevo/ptx/module.h"

#include <string>
#include <vector>

namespace kernevo::ptx {

// How a register of some type stands in .param memory: its components one after the other, a
// predicate as a word that is 0 or 1.
struct RegisterParts {
  Type memory = Type::none; // of one component; none: cannot be passed
  bool predicate = false;
  int count = 1;
};
RegisterParts parts_of(Type type, int width);
// b8 to b64; none for another width.
Type bits_type(int bits);

// A register, or the first of a vector's, and the variable it goes through.
struct MovedRegister {
  RegisterId reg = 0;
  RegisterParts parts;
  std::string variable;
};

// Makes a .reg parameter the .param variable it goes through.
void take_memory(Variable& parameter);

// Appends the instructions that fetch the register from its variable, or put it there. Guard, line
// and source are those of `place`; a predicate goes through a register of its own, which
// `registers` gets.
void load_parts(std::vector<Instruction>& into, std::vector<Register>& registers,
                const MovedRegister& moved, const Instruction& place);
void store_parts(std::vector<Instruction>& into, std::vector<Register>& registers,
                 const MovedRegister& moved, const Instruction& place);

} // namespace kernevo::ptx
