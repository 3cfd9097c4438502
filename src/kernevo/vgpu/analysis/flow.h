// Control flow of a lowered function: basic blocks of whole instructions.
#pragma once

#include "kernevo/vgpu/program/program.h"

#include <cstdint>
#include <vector>

namespace kernevo::vgpu::analysis {

struct BasicBlock {
  std::uint32_t first = 0; // instructions [first, last)
  std::uint32_t last = 0;
  std::vector<std::uint32_t> successors; // fall-through first
  std::vector<std::uint32_t> predecessors;
};

struct Flow {
  std::vector<BasicBlock> blocks;      // in the order of the text; unreachable ones are kept
  std::vector<std::uint32_t> block_of; // by instruction
  std::vector<std::uint32_t>
      postdominator;             // by block: the nearest one, kNone = leaves the function
  std::vector<bool> loop_header; // target of an edge that goes back in schedule order
};

// A block ends after a branch, ret, exit or trap, and before a label.
Flow find_flow(const Code& code);

} // namespace kernevo::vgpu::analysis
