#include "kernevo/base/expression_node.h"
#include "kernevo/base/identifier.h"
#include "kernevo/base/suggest.h"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kernevo {
namespace {

using Node = Expression::Node;
using Op = ExpressionOp;

// Deep enough for anything a person writes, shallow enough for the stack of a small thread.
constexpr int kMaxDepth = 200;
constexpr std::size_t kMaxLength = 4096;

struct BinaryOperator {
  std::string_view token;
  Op op;
  int precedence; // higher binds tighter, as in C
};

// Longer tokens first: the lexer takes the first that matches.
constexpr std::array kBinaryOperators = {
    BinaryOperator{"<<", Op::shift_left, 8},  BinaryOperator{">>", Op::shift_right, 8},
    BinaryOperator{"<=", Op::less_equal, 7},  BinaryOperator{">=", Op::greater_equal, 7},
    BinaryOperator{"==", Op::equal, 6},       BinaryOperator{"!=", Op::not_equal, 6},
    BinaryOperator{"&&", Op::logical_and, 2}, BinaryOperator{"||", Op::logical_or, 1},
    BinaryOperator{"<", Op::less, 7},         BinaryOperator{">", Op::greater, 7},
    BinaryOperator{"&", Op::bit_and, 5},      BinaryOperator{"^", Op::bit_xor, 4},
    BinaryOperator{"|", Op::bit_or, 3},       BinaryOperator{"+", Op::add, 9},
    BinaryOperator{"-", Op::subtract, 9},     BinaryOperator{"*", Op::multiply, 10},
    BinaryOperator{"/", Op::divide, 10},      BinaryOperator{"%", Op::modulo, 10},
};

struct Function {
  std::string_view name;
  Op op;
  std::size_t least;
  std::size_t most;
};

constexpr std::array kFunctions = {
    Function{"ceil_div", Op::ceil_div, 2, 2},
    Function{"min", Op::minimum, 2, kMaxLength},
    Function{"max", Op::maximum, 2, kMaxLength},
    Function{"next_pow2", Op::next_pow2, 1, 1},
};

int digit_value(char c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

class Parser {
public:
  Parser(std::string_view text, const Place& start) : text_(text), start_(start) {}

  Result<Node> parse() {
    if (text_.size() > kMaxLength)
      return error("expression is longer than 4096 characters", 0);
    KERNEVO_TRY(node, conditional(0));
    skip_space();
    if (position_ < text_.size())
      return error(fmt::format("unexpected '{}' in expression", shown(text_[position_])),
                   position_);
    return std::move(node);
  }

private:
  static std::string shown(char c) {
    return c >= ' ' && c < 127 ? std::string(1, c)
                               : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }

  tl::unexpected<Error> error(std::string message, std::size_t at) const {
    return fail(ErrorCode::input, std::move(message),
                place_in_expression(start_, static_cast<int>(at)));
  }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t' ||
                                        text_[position_] == '\n' || text_[position_] == '\r'))
      ++position_;
  }

  bool accept(char c) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != c)
      return false;
    ++position_;
    return true;
  }

  Node make(Op op, std::size_t offset, std::vector<Node> children) const {
    Node node;
    node.op = op;
    node.offset = static_cast<int>(offset);
    node.children = std::move(children);
    return node;
  }

  Result<Node> conditional(int depth) {
    if (depth > kMaxDepth)
      return error("expression is nested too deeply", position_);
    KERNEVO_TRY(condition, binary(1, depth + 1));
    skip_space();
    const std::size_t at = position_;
    if (!accept('?'))
      return std::move(condition);
    KERNEVO_TRY(yes, conditional(depth + 1));
    if (!accept(':'))
      return error("expected ':' of the conditional '?'", position_);
    KERNEVO_TRY(no, conditional(depth + 1));
    std::vector<Node> children;
    children.push_back(std::move(condition));
    children.push_back(std::move(yes));
    children.push_back(std::move(no));
    return make(Op::conditional, at, std::move(children));
  }

  const BinaryOperator* peek_operator() {
    skip_space();
    const std::string_view rest = text_.substr(position_);
    for (const BinaryOperator& candidate : kBinaryOperators)
      if (rest.starts_with(candidate.token))
        return &candidate;
    return nullptr;
  }

  // Left-associative precedence climbing. A long chain `a+a+a...` makes a deep tree without deep
  // recursion here, so the height is bounded too: evaluation recurses over it.
  Result<Node> binary(int least_precedence, int depth) {
    if (depth > kMaxDepth)
      return error("expression is nested too deeply", position_);
    KERNEVO_TRY(left, unary(depth + 1));
    int chain = 0;
    for (;;) {
      const BinaryOperator* found = peek_operator();
      if (found == nullptr || found->precedence < least_precedence)
        return std::move(left);
      const std::size_t at = position_;
      if (++chain > kMaxDepth)
        return error("expression has too many operators in a row", at);
      position_ += found->token.size();
      KERNEVO_TRY(right, binary(found->precedence + 1, depth + 1));
      std::vector<Node> children;
      children.push_back(std::move(left));
      children.push_back(std::move(right));
      left = make(found->op, at, std::move(children));
    }
  }

  Result<Node> unary(int depth) {
    if (depth > kMaxDepth)
      return error("expression is nested too deeply", position_);
    skip_space();
    const std::size_t at = position_;
    if (at >= text_.size())
      return error(text_.empty() ? "expression is empty" : "expression ends too early", at);
    const char c = text_[at];
    if (c == '+' || c == '-' || c == '~' || c == '!') {
      ++position_;
      KERNEVO_TRY(operand, unary(depth + 1));
      if (c == '+')
        return std::move(operand);
      std::vector<Node> children;
      children.push_back(std::move(operand));
      const Op op = c == '-' ? Op::negate : (c == '~' ? Op::complement : Op::logical_not);
      return make(op, at, std::move(children));
    }
    if (c == '(') {
      ++position_;
      KERNEVO_TRY(inner, conditional(depth + 1));
      if (!accept(')'))
        return error("expected ')'", position_);
      return std::move(inner);
    }
    if (is_digit(c))
      return number();
    if (starts_name(c))
      return name_or_call(depth);
    return error(fmt::format("unexpected '{}' in expression", shown(c)), at);
  }

  Result<Node> number() {
    const std::size_t at = position_;
    int base = 10;
    if (text_[position_] == '0' && position_ + 1 < text_.size()) {
      const char next = text_[position_ + 1];
      if (next == 'x' || next == 'X')
        base = 16;
      else if (next == 'b' || next == 'B')
        base = 2;
      else if (is_digit(next))
        base = 8;
      position_ += base == 16 || base == 2 ? 2 : 0;
    }
    std::int64_t value = 0;
    bool any = false;
    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '\'' && any) // C++ digit separator
        continue;
      const int digit = digit_value(c);
      if (digit >= base)
        break;
      any = true;
      if (__builtin_mul_overflow(value, std::int64_t{base}, &value) ||
          __builtin_add_overflow(value, std::int64_t{digit}, &value))
        return error("number does not fit 64 bits", at);
    }
    if (!any)
      return error("number has no digits", at);
    while (position_ < text_.size() &&
           std::string_view("uUlL").find(text_[position_]) != std::string_view::npos)
      ++position_;
    if (position_ < text_.size() && (continues_name(text_[position_]) || text_[position_] == '.'))
      return error("not an integer number", at);
    Node node = make(Op::number, at, {});
    node.value = value;
    return node;
  }

  Result<Node> name_or_call(int depth) {
    const std::size_t at = position_;
    while (position_ < text_.size() && continues_name(text_[position_]))
      ++position_;
    std::string name(text_.substr(at, position_ - at));
    if (!accept('(')) {
      Node node = make(Op::name, at, {});
      node.text = std::move(name);
      return node;
    }
    const Function* function = nullptr;
    std::vector<std::string> known;
    for (const Function& candidate : kFunctions) {
      known.emplace_back(candidate.name);
      if (candidate.name == name)
        function = &candidate;
    }
    if (function == nullptr)
      return error(fmt::format("unknown function '{}'{}; there are ceil_div, min, max, next_pow2",
                               name, did_you_mean(name, known)),
                   at);
    std::vector<Node> arguments;
    do {
      KERNEVO_TRY(argument, conditional(depth + 1));
      arguments.push_back(std::move(argument));
    } while (accept(','));
    if (!accept(')'))
      return error(fmt::format("expected ',' or ')' in the arguments of {}", name), position_);
    if (arguments.size() < function->least || arguments.size() > function->most)
      return error(fmt::format("{} takes {}{} argument{}, {} given", name, function->least,
                               function->most > function->least ? " or more" : "",
                               function->most == 1 ? "" : "s", arguments.size()),
                   at);
    return make(function->op, at, std::move(arguments));
  }

  std::string_view text_;
  Place start_;
  std::size_t position_ = 0;
};

} // namespace

Result<Expression> Expression::parse(std::string_view text, Place place) {
  KERNEVO_TRY(root, Parser(text, place).parse());
  Expression expression;
  expression.text_ = std::string(text);
  expression.place_ = std::move(place);
  expression.root_ = std::make_shared<const Node>(std::move(root));
  return expression;
}

} // namespace kernevo
