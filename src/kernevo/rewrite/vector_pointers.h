// The proof behind vectorise: which pointers of a kernel may be accessed several elements at a
// time.
#pragma once

#include "kernevo/rewrite/thread_shape.h"

#include <string>
#include <vector>

namespace kernevo::rewrite {

// How the kernel uses a pointer whose every mention is p[index].
struct VectorPointer {
  const Parameter* parameter = nullptr;
  bool loaded = false;
  bool stored = false;
};

// p[index]
bool is_element(const Expr& expr, const std::string& pointer, const std::string& index);

// The pointers that can be accessed as vectors, or why none may be.
OrRefusal<std::vector<VectorPointer>> vector_pointers(const Draft& draft, const Body& body,
                                                      const ThreadShape& shape,
                                                      const IndexVariable& index);

} // namespace kernevo::rewrite
