// What the names in a kernel's body stand for: where each is declared, which are ever changed, and
// what the fixed ones are worth.
#pragma once

#include "kernevo/rewrite/code.h"
#include "kernevo/rewrite/polynomial.h"
#include "kernevo/rewrite/syntax.h"

#include <map>
#include <set>
#include <string>

namespace kernevo::rewrite {

// Names that a statement may change: assigned, counted up, their address taken, handed to a
// function that takes references. Writes through a pointer or an index count for `through`.
struct Changes {
  std::set<std::string> names;
  std::set<std::string> through; // bases of p[i] = ..., *p = ...
  bool unknown = false;          // a write whose base is not a name
};
Changes changes_of(const Stmt& stmt, const Code& code);

// The name at the root of x, x.y, x[i], (x + 1), or empty.
std::string root_name(const Expr& expr);

// Every name that is read or written below.
std::set<std::string> names_in(const Expr& expr);
std::set<std::string> names_in(const Stmt& stmt);

class Names {
public:
  Names(const Code& code, const Function& function, const Stmt& body);

  struct Local {
    const Stmt* declaration = nullptr;
    const Declarator* declarator = nullptr;
  };
  // A name declared exactly once in the whole function; null for parameters and repeated ones.
  const Local* local(const std::string& name) const;
  int declarations(const std::string& name) const; // with parameters
  bool changed(const std::string& name) const { return changes_.names.contains(name); }
  const Changes& changes() const { return changes_; }

  // Fixed names evaluate to their definition, built-in indices and parameters to themselves.
  // `free` are loop variables and the like, taken as symbols.
  std::optional<Polynomial> value(const Expr& expr, const std::set<std::string>& free = {}) const;

  // Where p[index] goes, when p is a pointer parameter or a fixed local made from one.
  struct Access {
    const Parameter* base = nullptr;
    Polynomial index;
  };
  std::optional<Access> access(const Expr& index_expr,
                               const std::set<std::string>& free = {}) const;
  // The parameter behind a pointer, and its offset.
  std::optional<Access> pointer(const Expr& expr, const std::set<std::string>& free = {}) const;

private:
  std::optional<Polynomial> lookup(const std::string& name, const std::set<std::string>& free,
                                   int depth) const;
  std::optional<Access> pointer(const Expr& expr, const std::set<std::string>& free,
                                int depth) const;

  const Code& code_;
  const Function& function_;
  std::map<std::string, int> counts_;
  std::map<std::string, Local> locals_;
  Changes changes_;
};

} // namespace kernevo::rewrite
