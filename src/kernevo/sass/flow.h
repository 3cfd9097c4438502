// Basic blocks of machine code and how control passes between them.
#pragma once

#include "kernevo/sass/sass.h"

#include <cstddef>
#include <limits>

namespace kernevo::sass {

enum class EdgeKind {
  next,       // falls through, or comes back from a call
  taken,      // a branch, or a jump made with CALL inside the function
  divergence, // taken only where the compiler guards against diverged warps (BRA.DIV, BRA.CONV)
  indirect,   // one of the places a BRX may go
  sync,       // BSYNC to the place its BSSY named, when that is not the next instruction
};

struct Edge {
  std::size_t from = 0; // blocks
  std::size_t to = 0;
  EdgeKind kind = EdgeKind::next;
};

struct BasicBlock {
  std::size_t first = 0; // instructions [first, last)
  std::size_t last = 0;
  std::vector<std::size_t> out; // edges
  std::vector<std::size_t> in;
  bool may_leave = false;          // EXIT or RET at its end, guarded or not
  bool is_entry = false;           // the section's first block, or the start of a called function
  bool reachable = false;          // not padding
  std::optional<std::size_t> call; // the block that the CALL at its end enters
};

struct Flow {
  std::vector<BasicBlock> blocks;
  std::vector<Edge> edges;
  std::vector<std::size_t> block_of; // of every instruction
  bool complete = true;              // false when an indirect branch's targets are unknown
};

Flow find_flow(const SassFunction& function);

} // namespace kernevo::sass
