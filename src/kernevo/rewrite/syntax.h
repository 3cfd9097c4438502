// The body of a kernel as statements and expressions: the plain part of C++ that most kernels keep
// to. What is beyond it (lambdas, switch, goto, asm, placement of templates) is not parsed, and a
// rewrite that needs the structure refuses.
#pragma once

#include "kernevo/rewrite/code.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::rewrite {

struct Expr {
  enum class Kind {
    name,        // text
    number,      // text
    string,      // text
    index,       // kids: base, index
    call,        // text: the function's name when it is plain; kids: arguments
    member,      // text: the member; kids: object
    unary,       // text: the operator, before its operand
    postfix,     // text: ++ or --
    binary,      // text: the operator
    assign,      // text: the operator
    conditional, // kids: condition, yes, no
    cast,        // text: the type; kids: operand
    list,        // {a, b}
  };
  Kind kind = Kind::name;
  std::string text;
  std::vector<std::unique_ptr<Expr>> kids;
  std::size_t begin = 0; // offsets in the text that was parsed
  std::size_t end = 0;

  bool is(Kind wanted, std::string_view wanted_text) const {
    return kind == wanted && text == wanted_text;
  }
  bool is_name(std::string_view wanted) const { return is(Kind::name, wanted); }
};

struct Declarator {
  std::string name;
  bool pointer = false;
  bool reference = false;
  bool array = false;
  std::unique_ptr<Expr> init; // null without one
  std::size_t begin = 0;
};

struct Stmt {
  enum class Kind {
    block,
    declaration,
    expression,
    branch, // if
    loop,   // for
    other_loop,
    jump, // return, break, continue: in `text`
    empty,
  };
  Kind kind = Kind::empty;
  std::string text; // jump: its word; declaration: the type without qualifiers
  bool is_const = false;
  bool is_shared = false;
  bool is_static = false;
  std::vector<Declarator> declarators;
  std::unique_ptr<Expr> condition; // of a branch or loop; the expression of a statement or return
  std::unique_ptr<Expr> step;      // of a for
  std::unique_ptr<Stmt> init;      // of a for
  // Statements of a block; body of a loop; then and else of a branch.
  std::vector<std::unique_ptr<Stmt>> body;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The body of a kernel, or what in it cannot be parsed.
struct ParsedBody {
  std::unique_ptr<Stmt> block; // null when it cannot be parsed
  std::string problem;
};
ParsedBody parse_body(const Code& code, const Function& function);

// An expression that is the whole text: a size of a launch.
std::unique_ptr<Expr> parse_expression(std::string_view text);

// Visits every expression in and below a statement or expression, parents first.
using ExprVisitor = std::function<void(const Expr&)>;
void visit(const Expr& expr, const ExprVisitor& visitor);
void visit(const Stmt& stmt, const ExprVisitor& visitor);
// Visits every statement, parents first.
void visit_statements(const Stmt& stmt, const std::function<void(const Stmt&)>& visitor);

} // namespace kernevo::rewrite
