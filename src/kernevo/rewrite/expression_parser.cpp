#include "kernevo/rewrite/expression_parser.h"

#include <array>
#include <fmt/format.h>
#include <set>

namespace kernevo::rewrite {
namespace {

// Deeper nesting than any kernel has.
constexpr int kDeepest = 200;
// Operators in a row at one level; the tree is as deep.
constexpr int kLongest = 500;

int precedence(std::string_view op) {
  static constexpr std::array<std::pair<std::string_view, int>, 18> table = {{{"||", 1},
                                                                              {"&&", 2},
                                                                              {"|", 3},
                                                                              {"^", 4},
                                                                              {"&", 5},
                                                                              {"==", 6},
                                                                              {"!=", 6},
                                                                              {"<", 7},
                                                                              {">", 7},
                                                                              {"<=", 7},
                                                                              {">=", 7},
                                                                              {"<<", 8},
                                                                              {">>", 8},
                                                                              {"+", 9},
                                                                              {"-", 9},
                                                                              {"*", 10},
                                                                              {"/", 10},
                                                                              {"%", 10}}};
  for (const auto& [text, level] : table)
    if (text == op)
      return level;
  return 0;
}

bool is_assignment(std::string_view op) {
  static const std::set<std::string_view> ops = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return ops.contains(op);
}

} // namespace

bool is_qualifier(std::string_view word) {
  static const std::set<std::string_view> words = {
      "const", "constexpr", "static", "__shared__", "extern", "register", "__restrict__"};
  return words.contains(word);
}

bool is_arithmetic_word(std::string_view word) {
  static const std::set<std::string_view> words = {"unsigned", "signed", "long",   "short", "int",
                                                   "char",     "float",  "double", "bool"};
  return words.contains(word);
}

const Token& ExpressionParser::token(std::size_t ahead) const {
  static const Token none{};
  return at_ + ahead < end_ ? tokens_[at_ + ahead] : none;
}

void ExpressionParser::stop(std::string_view what) const {
  throw Unparsed{fmt::format("{} at '{}' is beyond what can be followed", what,
                             at_ < end_ ? token().text : "the end")};
}

void ExpressionParser::expect(std::string_view text) {
  if (!now(text))
    stop("the code");
  ++at_;
}

bool ExpressionParser::accept(std::string_view text) {
  if (!now(text))
    return false;
  ++at_;
  return true;
}

ExpressionParser::Depth::Depth(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.depth_ > kDeepest)
    parser_.stop("the nesting");
}

ExprPtr ExpressionParser::make(Expr::Kind kind, std::size_t begin, std::string text) const {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->text = std::move(text);
  expr->begin = begin;
  expr->end = at_ > 0 ? tokens_[at_ - 1].end() : 0;
  return expr;
}

ExprPtr ExpressionParser::whole_expression() {
  ExprPtr result = comma_free();
  if (at_ != end_)
    stop("more than an expression");
  return result;
}

std::size_t ExpressionParser::type_length(std::size_t at) const {
  std::size_t i = at;
  bool named = false;
  for (; i < end_; ++i) {
    const Token& t = tokens_[i];
    if (is_qualifier(t.text))
      continue;
    if (is_arithmetic_word(t.text)) {
      named = true;
      continue;
    }
    if (!named && t.is_name()) {
      named = true;
      continue;
    }
    break;
  }
  if (!named)
    return 0;
  while (i < end_ && (tokens_[i].is("*") || tokens_[i].is("&") || is_qualifier(tokens_[i].text)))
    ++i;
  return i - at;
}

ExprPtr ExpressionParser::list() {
  const Depth depth(*this);
  const std::size_t begin = token().begin;
  expect("{");
  std::vector<ExprPtr> items;
  while (!now("}")) {
    items.push_back(now("{") ? list() : comma_free());
    if (!accept(","))
      break;
  }
  expect("}");
  auto expr = make(Expr::Kind::list, begin, "");
  expr->kids = std::move(items);
  return expr;
}

ExprPtr ExpressionParser::expression() {
  const std::size_t begin = token().begin;
  ExprPtr left = comma_free();
  for (int length = 0; accept(","); ++length) {
    if (length > kLongest)
      stop("the expression");
    ExprPtr right = comma_free();
    left = make(Expr::Kind::binary, begin, ",", std::move(left), std::move(right));
  }
  return left;
}

ExprPtr ExpressionParser::comma_free() {
  const Depth depth(*this);
  const std::size_t begin = token().begin;
  ExprPtr left = binary(1);
  if (accept("?")) {
    ExprPtr yes = expression();
    expect(":");
    ExprPtr no = comma_free();
    return make(Expr::Kind::conditional, begin, "?", std::move(left), std::move(yes),
                std::move(no));
  }
  if (is_assignment(token().text)) {
    std::string op(token().text);
    ++at_;
    ExprPtr right = now("{") ? list() : comma_free();
    return make(Expr::Kind::assign, begin, std::move(op), std::move(left), std::move(right));
  }
  return left;
}

ExprPtr ExpressionParser::binary(int least) {
  const std::size_t begin = token().begin;
  ExprPtr left = unary();
  bool compared = false;
  for (int length = 0;; ++length) {
    const int level = token().kind == SourceToken::Kind::punctuation ? precedence(token().text) : 0;
    if (level < least || level == 0)
      return left;
    // f<4>(x) looks like two comparisons, which nobody writes on purpose.
    if (length > kLongest || (compared && level == precedence("<")))
      stop("the expression");
    compared = compared || level == precedence("<");
    std::string op(token().text);
    ++at_;
    ExprPtr right = binary(level + 1);
    left = make(Expr::Kind::binary, begin, std::move(op), std::move(left), std::move(right));
  }
}

ExprPtr ExpressionParser::unary() {
  const Depth depth(*this);
  const std::size_t begin = token().begin;
  for (const std::string_view op : {"++", "--", "-", "+", "!", "~", "*", "&"})
    if (now(op)) {
      ++at_;
      ExprPtr operand = unary();
      return make(Expr::Kind::unary, begin, std::string(op), std::move(operand));
    }
  if (now("sizeof")) {
    ++at_;
    expect("(");
    const std::size_t length = type_length(at_);
    if (length == 0 || !token(length).is(")"))
      stop("sizeof");
    at_ += length + 1;
    return make(Expr::Kind::number, begin, "sizeof");
  }
  if (now("(") && is_cast())
    return c_cast();
  return suffixes(primary());
}

// "(type)" before an operand.
bool ExpressionParser::is_cast() const {
  const std::size_t length = type_length(at_ + 1);
  if (length == 0 || !token(length + 1).is(")"))
    return false;
  bool known = false;
  for (std::size_t i = 1; i <= length; ++i)
    known = known || is_arithmetic_word(token(i).text) || is_type(token(i).text) ||
            (i > 1 && token(i).is("*"));
  const Token& after = token(length + 2);
  return known && (after.kind != SourceToken::Kind::punctuation || after.is("(") || after.is("-") ||
                   after.is("&") || after.is("*") || after.is("!"));
}

std::string ExpressionParser::type_text(std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i, ++at_)
    if (!is_qualifier(token().text) || token().is("__shared__"))
      text += (text.empty() || now("*") ? "" : " ") + std::string(token().text);
  return text;
}

ExprPtr ExpressionParser::c_cast() {
  const std::size_t begin = token().begin;
  expect("(");
  std::string type = type_text(type_length(at_));
  expect(")");
  ExprPtr operand = unary();
  return make(Expr::Kind::cast, begin, std::move(type), std::move(operand));
}

std::vector<ExprPtr> ExpressionParser::arguments() {
  expect("(");
  std::vector<ExprPtr> result;
  while (!now(")")) {
    result.push_back(now("{") ? list() : comma_free());
    if (!accept(","))
      break;
  }
  expect(")");
  return result;
}

ExprPtr ExpressionParser::primary() {
  const Depth depth(*this);
  const Token& first = token();
  const std::size_t begin = first.begin;
  if (at_ >= end_)
    stop("the expression");
  if (first.kind == SourceToken::Kind::number || first.kind == SourceToken::Kind::string) {
    ++at_;
    return make(first.kind == SourceToken::Kind::number ? Expr::Kind::number : Expr::Kind::string,
                begin, std::string(first.text));
  }
  if (accept("(")) {
    ExprPtr inside = expression();
    expect(")");
    inside->begin = begin; // with its parentheses
    inside->end = tokens_[at_ - 1].end();
    return inside;
  }
  if (!first.is_name())
    stop("the expression");
  if (first.is("static_cast") || first.is("reinterpret_cast")) {
    const bool reinterpret = first.is("reinterpret_cast");
    ++at_;
    expect("<");
    const std::size_t length = type_length(at_);
    if (length == 0)
      stop("the cast");
    std::string type = type_text(length);
    expect(">");
    expect("(");
    ExprPtr operand = expression();
    expect(")");
    if (reinterpret)
      type = "reinterpret " + type;
    return make(Expr::Kind::cast, begin, std::move(type), std::move(operand));
  }
  if (is_arithmetic_word(first.text) || is_qualifier(first.text) || first.is("operator") ||
      first.is("new") || first.is("delete") || first.is("asm") || first.is("const_cast") ||
      first.is("dynamic_cast")) {
    // float(x)
    if (is_arithmetic_word(first.text) && token(1).is("(")) {
      ++at_;
      std::vector<ExprPtr> inside = arguments();
      if (inside.size() == 1)
        return make(Expr::Kind::cast, begin, std::string(first.text), std::move(inside[0]));
    }
    stop("the expression");
  }
  ++at_;
  std::string name(first.text);
  while (now("::") && token(1).is_name()) {
    name += "::" + std::string(token(1).text);
    at_ += 2;
  }
  if (now("::"))
    stop("the name");
  return make(Expr::Kind::name, begin, std::move(name));
}

ExprPtr ExpressionParser::suffixes(ExprPtr base) {
  for (int length = 0;; ++length) {
    const std::size_t begin = base->begin;
    if (length > kLongest)
      stop("the expression");
    if (accept("[")) {
      ExprPtr index = expression();
      expect("]");
      base = make(Expr::Kind::index, begin, "", std::move(base), std::move(index));
    } else if (now("(")) {
      if (base->kind != Expr::Kind::name)
        stop("the call");
      std::vector<ExprPtr> inside = arguments();
      const bool cast = inside.size() == 1 && is_type(base->text);
      auto call = make(cast ? Expr::Kind::cast : Expr::Kind::call, begin, base->text);
      call->kids = std::move(inside);
      base = std::move(call);
    } else if (now(".") || now("->")) {
      ++at_;
      if (!token().is_name() || token(1).is("("))
        stop("the member");
      std::string member(token().text);
      ++at_;
      base = make(Expr::Kind::member, begin, std::move(member), std::move(base));
    } else if (now("++") || now("--")) {
      std::string op(token().text);
      ++at_;
      base = make(Expr::Kind::postfix, begin, std::move(op), std::move(base));
    } else {
      return base;
    }
  }
}

} // namespace kernevo::rewrite
