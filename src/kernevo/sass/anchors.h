// Which machine instructions stand for which PTX instruction, one to one.
#pragma once

#include "kernevo/sass/flow.h"
#include "kernevo/sass/ptx_lines.h"
#include "kernevo/sass/sass.h"

namespace kernevo::sass {

// How surely the copies of a line tell how often it ran.
enum class Trust {
  strong, // memory, barriers, shuffles: never moved out of a loop, never computed twice
  medium, // arithmetic with one machine instruction: may be hoisted or merged
  weak,   // comparisons and branches
};

// The copies of one PTX line. An instruction of the line that only prepares (an address, a mask)
// is no copy.
struct Anchor {
  int line = 0;
  std::size_t ptx_block = 0;
  Trust trust = Trust::medium;
  bool by_guard = false; // copies are guarded like the PTX; they run when the guard is false, too
  // Blocks and how often one execution of the block runs the line (4 in a loop unrolled by four).
  std::vector<std::pair<std::size_t, double>> copies;
};

std::vector<Anchor> find_anchors(const SassFunction& function, const Flow& flow,
                                 const PtxLines& ptx);

} // namespace kernevo::sass
