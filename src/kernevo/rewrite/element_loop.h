// A loop around the work of a thread, over blocks it stands in for: what coarsen and grid_stride
// share.
#pragma once

#include "kernevo/rewrite/thread_shape.h"

#include <string>

namespace kernevo::rewrite {

// What may be put in a loop: the index declared in a statement of its own, nothing changed in the
// body that lives outside it, no return inside an inner loop.
std::optional<Refusal> check_repeatable(const Draft& draft, const Body& body,
                                        const ThreadShape& shape, const IndexVariable& index);

// The index whose elements a loop may run over: along y where there is one, so that neighbours
// along x stay neighbours in memory.
OrRefusal<const IndexVariable*> index_to_loop_over(const Draft& draft,
                                                   const ElementKernel& element);

struct ElementLoop {
  std::vector<std::string> before; // lines before the loop
  std::string head;                // "for (...)"
  bool unrolled = false;
  std::string index;              // what the index's declaration says now
  std::vector<std::string> after; // lines after the loop
};

// Puts the loop around everything from the index's declaration to the end of the kernel; every
// return in it becomes a continue.
void wrap_in_loop(Draft& draft, const Body& body, const IndexVariable& index,
                  const ElementLoop& loop);

// The index's value, with another name for the number of its block.
std::string with_block(const Draft& draft, const IndexVariable& index, const std::string& block);

// The innermost indentation step of the file.
std::string indent_step(const Draft& draft, const Body& body);

} // namespace kernevo::rewrite
