// The shape most simple kernels have: an index made from block and thread, a guard, and a body for
// the threads that pass it.
#pragma once

#include "kernevo/rewrite/draft.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::rewrite {

// T v = (blockIdx.d * block + threadIdx.d) * scale;
struct IndexVariable {
  char axis = 'x';
  std::string name;
  const Stmt* declaration = nullptr;
  const Declarator* declarator = nullptr;
  Polynomial scale;
  const Expr* bound = nullptr; // v < bound holds in the body
};

// Every index is proven to run over 0 ... bound - 1: no block index, block size or grid size of its
// axes is used elsewhere, and each launch has ceil_div(bound, block) blocks along them.
struct ThreadShape {
  std::vector<IndexVariable> indices;
  const Stmt* guard = nullptr; // the branch
  bool early_return = false;   // if (outside) return; rather than if (inside) body
  // What runs only for threads inside: statements after an early return, or the guarded ones.
  std::vector<const Stmt*> inside;
  // Statements before the guard that are no index declaration.
  std::vector<const Stmt*> before;

  const IndexVariable* find(char axis) const;
};

// Sizes along one axis of one launch, as values over the names of the launch.
struct LaunchAxis {
  const Expression* grid = nullptr; // null: 1
  const Expression* block = nullptr;
};
LaunchAxis axis_of(const LaunchDirective& launch, char axis);

// A kernel whose threads do not cooperate (no barriers, no shared memory, no exchange within the
// warp), so that they may be given other work, and which has the shape.
struct ElementKernel {
  Body body;
  ThreadShape shape;
};
OrRefusal<ElementKernel> element_kernel(const Draft& draft, const Function& kernel);

// Writes another number of blocks along an axis into every launch of the kernel; `grid` makes it
// from the text of the present one.
std::optional<Refusal>
set_grids(Draft& draft, const Function& kernel, char axis,
          const std::function<std::string(const std::string& present)>& grid);

// Whether every launch hands different buffers to the pointers of the kernel, so that what is
// written through one is never read through another.
bool buffers_are_distinct(const Draft& draft, const Function& function);

} // namespace kernevo::rewrite
