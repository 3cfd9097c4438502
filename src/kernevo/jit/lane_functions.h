// Instructions that are a function of one lane's operands and too long to write as IR: they are
// C++ (the semantics headers that the interpreter uses), compiled to bitcode by the build.
#pragma once

#include "kernevo/ptx/module.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::jit {

// `name` takes and returns the C++ types of one lane (float, double, std::uint16_t for half and
// bfloat bits, std::uint32_t for packed pairs, integers by width). `name` + "_x32" takes pointers:
// the result's 32 lanes first, then each operand's.
struct LaneFunction {
  std::string name;
  ptx::Type result = ptx::Type::none;
  std::vector<ptx::Type> operands; // by source operand, in order
};

// Nothing when the instruction is not such a function (or not worth it).
std::optional<LaneFunction> lane_function(const ptx::Instruction& instruction);

} // namespace kernevo::jit
