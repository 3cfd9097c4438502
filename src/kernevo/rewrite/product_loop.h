// The pattern behind a matrix product: in a kernel with a row and a column per thread, one loop
// over k that adds up products of what depends on (row, k) and what depends on (k, column).
#pragma once

#include "kernevo/rewrite/thread_shape.h"

#include <string>
#include <vector>

namespace kernevo::rewrite {

// A read from global memory in the loop.
struct Operand {
  const Parameter* base = nullptr;
  std::string text;       // the whole read, as written
  bool along_x = false;   // depends on the index along x; otherwise on that along y
  bool unit_in_k = false; // neighbouring k are neighbours in memory, neighbouring indices are not
  std::vector<const Expr*> places;
};

struct ProductLoop {
  const IndexVariable* x = nullptr;
  const IndexVariable* y = nullptr;
  const Stmt* loop = nullptr;
  std::string variable; // k
  const Expr* low = nullptr;
  const Expr* high = nullptr;
  std::vector<Operand> operands;
  std::vector<const Stmt*> index_declarations; // in the loop, without reads
  std::vector<const Stmt*> products;           // the other statements of the loop
  // Before the loop: declarations that are never changed, those that are (the sums), and shifts of
  // pointers by the same amount in every thread.
  std::vector<const Stmt*> fixed;
  std::vector<const Stmt*> sums;
  std::vector<const Stmt*> shifts;
  std::set<std::string> accumulators;
  std::vector<const Stmt*> after;
};

// Proves that the loop may run over tiles: every read depends on k and on exactly one of the two
// indices, nothing is written but sums, a product of zeros adds nothing, and the bounds of k are
// the same in every thread.
OrRefusal<ProductLoop> product_loop(const Draft& draft, const Body& body, const ThreadShape& shape);

} // namespace kernevo::rewrite
