// Carries execution counts over from PTX lines to machine instructions.
#pragma once

#include "kernevo/sass/flow.h"
#include "kernevo/sass/ptx_lines.h"
#include "kernevo/sass/sass.h"

namespace kernevo::sass {

// How often a PTX line ran. A guarded instruction counts in `warps` and `threads` whenever its
// warp comes by, also when no lane's guard holds; `threads_on` counts lanes whose guard holds (for
// a guarded branch: lanes that take it).
struct ExecutionCounts {
  double warps = 0;
  double threads = 0;
  double threads_on = 0;
};

struct LineError {
  int line = 0;
  double expected = 0; // threads, by the PTX
  double found = 0;    // by the machine blocks that hold its copies
};

struct Join {
  std::vector<ExecutionCounts> instructions; // of the function, in its order
  std::vector<ExecutionCounts> blocks;
  std::vector<double> edge_threads; // passages over the flow's edges
  // Share of the thread executions of anchored PTX lines that the block counts do not explain.
  double residual = 0;
  // Share of the thread executions of machine instructions that rests on an assumption: how an
  // unrolled loop shares its trips with its remainder, slow paths that are taken to be idle.
  double assumed = 0;
  std::vector<LineError> worst; // the lines with the largest errors, largest first
};

// `counts` by PTX line; [0] is unused, a short vector means zero. All lines are of one run.
Join join(const SassFunction& function, const Flow& flow, const PtxLines& ptx,
          const std::vector<ExecutionCounts>& counts);

} // namespace kernevo::sass
