// The shape most simple kernels have: an index made from block and thread, a guard, and a body for
// the threads that pass it.
#pragma once

#include "kernevo/rewrite/draft.h"

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

// Finds the shape, with every index proven to run over 0 ... bound - 1: no block index, block size
// or grid size of its axes is used elsewhere, and each launch has ceil_div(bound, block) blocks
// along them.
OrRefusal<ThreadShape> thread_shape(const Draft& draft, const Body& body);

// Why threads may not be given other work: barriers, shared memory, exchange within the warp.
// Empty when they may.
std::string cooperation(const Draft& draft, const Body& body);

// Whether every launch hands different buffers to the pointers of the kernel, so that what is
// written through one is never read through another.
bool buffers_are_distinct(const Draft& draft, const Function& function);

} // namespace kernevo::rewrite
