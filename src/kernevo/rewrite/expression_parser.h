// Expressions of the plain part of C++ that syntax.h has; statements are parsed on top of it. What
// is beyond it is thrown as Unparsed, which syntax.cpp catches.
#pragma once

#include "kernevo/rewrite/syntax.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::rewrite {

using ExprPtr = std::unique_ptr<Expr>;

// Thrown away with the whole parse.
struct Unparsed {
  std::string problem;
};

bool is_qualifier(std::string_view word);
bool is_arithmetic_word(std::string_view word);

class ExpressionParser {
public:
  // Without a code no name is known to be a type.
  ExpressionParser(const std::vector<Token>& tokens, std::size_t begin, std::size_t end,
                   const Code* code)
      : tokens_(tokens), at_(begin), end_(end), code_(code) {}

  // All of the tokens.
  ExprPtr whole_expression();

protected:
  const Token& token(std::size_t ahead = 0) const;
  bool now(std::string_view text) const { return at_ < end_ && tokens_[at_].is(text); }
  [[noreturn]] void stop(std::string_view what) const;
  void expect(std::string_view text);
  bool accept(std::string_view text);

  // Bounds the recursion on hostile sources.
  struct Depth {
    explicit Depth(ExpressionParser& parser);
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ExpressionParser& parser_;
  };

  // Tokens from `at` that form a type: qualifiers, words, pointers. 0 when there is none.
  std::size_t type_length(std::size_t at) const;

  // With the comma operator, as in a for's step.
  ExprPtr expression();
  ExprPtr comma_free();
  ExprPtr list(); // {a, b}

  const std::vector<Token>& tokens_;
  std::size_t at_;
  std::size_t end_;

private:
  bool is_type(std::string_view name) const { return code_ != nullptr && code_->is_type(name); }
  ExprPtr make(Expr::Kind kind, std::size_t begin, std::string text) const;
  template <class... Kids>
  ExprPtr make(Expr::Kind kind, std::size_t begin, std::string text, Kids... kids) const {
    auto expr = make(kind, begin, std::move(text));
    (expr->kids.push_back(std::move(kids)), ...);
    return expr;
  }
  ExprPtr binary(int least);
  ExprPtr unary();
  bool is_cast() const;
  std::string type_text(std::size_t length);
  ExprPtr c_cast();
  std::vector<ExprPtr> arguments();
  ExprPtr primary();
  ExprPtr suffixes(ExprPtr base);

  const Code* code_;
  int depth_ = 0;
};

} // namespace kernevo::rewrite
