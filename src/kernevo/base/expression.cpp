#include "kernevo/base/expression.h"

#include "kernevo/base/expression_node.h"
#include "kernevo/base/suggest.h"

#include <bit>
#include <fmt/format.h>
#include <limits>

namespace kernevo {
namespace {

using Node = Expression::Node;
using Op = ExpressionOp;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

class Evaluator {
public:
  Evaluator(const std::map<std::string, std::int64_t>& names, const Place& start)
      : names_(names), start_(start) {}

  Result<std::int64_t> evaluate(const Node& node) const {
    switch (node.op) {
    case Op::number: return node.value;
    case Op::name: return lookup(node);
    case Op::conditional: {
      KERNEVO_TRY(condition, evaluate(node.children[0]));
      return evaluate(node.children[condition != 0 ? 1 : 2]);
    }
    case Op::logical_and:
    case Op::logical_or: {
      // Short-circuit as C does: `N != 0 && M / N > 1` must not fail.
      KERNEVO_TRY(left, evaluate(node.children[0]));
      if ((left != 0) == (node.op == Op::logical_or))
        return node.op == Op::logical_or ? 1 : 0;
      KERNEVO_TRY(right, evaluate(node.children[1]));
      return right != 0 ? 1 : 0;
    }
    case Op::negate:
    case Op::complement:
    case Op::logical_not:
    case Op::next_pow2: {
      KERNEVO_TRY(operand, evaluate(node.children[0]));
      return unary(node, operand);
    }
    default: {
      KERNEVO_TRY(value, evaluate(node.children[0]));
      std::int64_t result = value;
      for (std::size_t i = 1; i < node.children.size(); ++i) {
        KERNEVO_TRY(right, evaluate(node.children[i]));
        KERNEVO_TRY(combined, binary(node, result, right));
        result = combined;
      }
      return result;
    }
    }
  }

private:
  tl::unexpected<Error> error(const Node& node, std::string message) const {
    return fail(ErrorCode::input, std::move(message), place_in_expression(start_, node.offset));
  }
  tl::unexpected<Error> overflow(const Node& node) const {
    return error(node, "the value does not fit 64 bits");
  }

  Result<std::int64_t> lookup(const Node& node) const {
    const auto found = names_.find(node.text);
    if (found != names_.end())
      return found->second;
    std::vector<std::string> known;
    for (const auto& [name, value] : names_)
      known.push_back(name);
    return error(node,
                 fmt::format("unknown name '{}'{}", node.text, did_you_mean(node.text, known)));
  }

  Result<std::int64_t> unary(const Node& node, std::int64_t operand) const {
    if (node.op == Op::complement)
      return ~operand;
    if (node.op == Op::logical_not)
      return operand == 0 ? 1 : 0;
    if (node.op == Op::negate) {
      if (operand == kSmallest)
        return overflow(node);
      return -operand;
    }
    if (operand <= 1)
      return 1;
    if (operand > (std::int64_t{1} << 62))
      return overflow(node);
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(operand)));
  }

  Result<std::int64_t> binary(const Node& node, std::int64_t left, std::int64_t right) const {
    std::int64_t result = 0;
    switch (node.op) {
    case Op::add:
      if (__builtin_add_overflow(left, right, &result))
        return overflow(node);
      return result;
    case Op::subtract:
      if (__builtin_sub_overflow(left, right, &result))
        return overflow(node);
      return result;
    case Op::multiply:
      if (__builtin_mul_overflow(left, right, &result))
        return overflow(node);
      return result;
    case Op::divide:
    case Op::modulo:
    case Op::ceil_div: return divide(node, left, right);
    case Op::shift_left:
    case Op::shift_right: return shift(node, left, right);
    case Op::bit_and: return left & right;
    case Op::bit_or: return left | right;
    case Op::bit_xor: return left ^ right;
    case Op::less: return left < right ? 1 : 0;
    case Op::less_equal: return left <= right ? 1 : 0;
    case Op::greater: return left > right ? 1 : 0;
    case Op::greater_equal: return left >= right ? 1 : 0;
    case Op::equal: return left == right ? 1 : 0;
    case Op::not_equal: return left != right ? 1 : 0;
    case Op::minimum: return left < right ? left : right;
    default: // maximum
      return left > right ? left : right;
    }
  }

  Result<std::int64_t> divide(const Node& node, std::int64_t left, std::int64_t right) const {
    if (right == 0)
      return error(node, "division by zero");
    if (left == kSmallest && right == -1)
      return overflow(node);
    const std::int64_t quotient = left / right;
    const std::int64_t remainder = left % right;
    if (node.op == Op::divide)
      return quotient;
    if (node.op == Op::modulo)
      return remainder;
    // C truncates towards zero; the ceiling differs only where the true quotient is positive.
    return remainder != 0 && (remainder < 0) == (right < 0) ? quotient + 1 : quotient;
  }

  Result<std::int64_t> shift(const Node& node, std::int64_t left, std::int64_t right) const {
    if (right < 0 || right > 63)
      return error(node, fmt::format("shift by {} is outside 0 to 63", right));
    if (node.op == Op::shift_right)
      return left >> right;
    if (left < 0)
      return error(node, "left shift of a negative value");
    if (left > (kLargest >> right))
      return overflow(node);
    return left << right;
  }

  const std::map<std::string, std::int64_t>& names_;
  const Place& start_;
};

void collect_names(const Node& node, std::set<std::string>& names) {
  if (node.op == Op::name)
    names.insert(node.text);
  for (const Node& child : node.children)
    collect_names(child, names);
}

} // namespace

Result<std::int64_t> Expression::evaluate(const std::map<std::string, std::int64_t>& names) const {
  if (root_ == nullptr)
    return fail(ErrorCode::input, "expression is empty", place_);
  return Evaluator(names, place_).evaluate(*root_);
}

std::set<std::string> Expression::names() const {
  std::set<std::string> names;
  if (root_ != nullptr)
    collect_names(*root_, names);
  return names;
}

} // namespace kernevo
