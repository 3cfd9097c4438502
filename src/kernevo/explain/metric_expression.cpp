#include "kernevo/explain/metric_expression.h"

#include "kernevo/base/suggest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {

struct MetricExpression::Node {
  std::string op;   // an operator or function; empty for a number or a name
  std::string name; // of a metric
  double number = 0;
  bool condition = false;
  std::string text; // of a comparison, for the trace
  std::vector<Node> children;
};

namespace {

using Node = MetricExpression::Node;
using Lookup = MetricExpression::Lookup;

constexpr int kMaxDepth = 64;

struct Operator {
  std::string_view token;
  int precedence;
};
// Longer tokens first where one begins another.
constexpr std::array<Operator, 12> kOperators = {{{"||", 1},
                                                  {"&&", 2},
                                                  {"<=", 3},
                                                  {">=", 3},
                                                  {"==", 3},
                                                  {"!=", 3},
                                                  {"<", 3},
                                                  {">", 3},
                                                  {"+", 4},
                                                  {"-", 4},
                                                  {"*", 5},
                                                  {"/", 5}}};
constexpr int kComparison = 3;

class Parser {
public:
  Parser(std::string_view text, const std::vector<std::string>& known, const Place& place)
      : text_(text), known_(known), place_(place) {}

  Result<Node> parse(MetricExpression::Kind kind) {
    KERNEVO_TRY(root, binary(1, 0));
    skip_space();
    if (position_ < text_.size())
      return error(fmt::format("unexpected '{}'", text_.substr(position_, 1)));
    const bool wanted = kind == MetricExpression::Kind::condition;
    if (root.condition != wanted)
      return error(wanted ? "is a number where a condition is wanted"
                          : "is a condition where a number is wanted");
    return std::move(root);
  }

private:
  tl::unexpected<Error> error(const std::string& what, std::string fix = "") const {
    return fail(ErrorCode::input, fmt::format("'{}': {}", text_, what), place_, std::move(fix));
  }

  void skip_space() {
    while (position_ < text_.size() &&
           std::isspace(static_cast<unsigned char>(text_[position_])) != 0)
      ++position_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(position_).starts_with(token))
      return false;
    position_ += token.size();
    return true;
  }

  Result<Node> binary(int least, int depth) {
    if (depth > kMaxDepth)
      return error("is nested too deeply");
    skip_space();
    const std::size_t begin = position_;
    KERNEVO_TRY(left, unary(depth + 1));
    for (int chain = 0;; ++chain) {
      skip_space();
      const std::string_view rest = text_.substr(position_);
      const auto* found =
          std::find_if(kOperators.begin(), kOperators.end(),
                       [&](const Operator& o) { return rest.starts_with(o.token); });
      if (found == kOperators.end() || found->precedence < least)
        return std::move(left);
      if (chain > kMaxDepth)
        return error("has too many operators in a row");
      position_ += found->token.size();
      KERNEVO_TRY(right, binary(found->precedence + 1, depth + 1));
      const bool logical = found->precedence < kComparison;
      if (left.condition != logical || right.condition != logical)
        return error(logical ? fmt::format("both sides of {} must be comparisons", found->token)
                             : fmt::format("both sides of {} must be numbers", found->token));
      Node node;
      node.op = found->token;
      node.condition = found->precedence <= kComparison;
      node.text = std::string(text_.substr(begin, position_ - begin));
      while (!node.text.empty() && std::isspace(static_cast<unsigned char>(node.text.back())) != 0)
        node.text.pop_back();
      node.children.push_back(std::move(left));
      node.children.push_back(std::move(right));
      left = std::move(node);
    }
  }

  Result<Node> unary(int depth) {
    if (depth > kMaxDepth)
      return error("is nested too deeply");
    skip_space();
    if (position_ >= text_.size())
      return error(text_.empty() ? "is empty" : "ends too early");
    if (accept("(")) {
      KERNEVO_TRY(inner, binary(1, depth + 1));
      if (!accept(")"))
        return error("lacks a ')'");
      return std::move(inner);
    }
    if (std::isdigit(static_cast<unsigned char>(text_[position_])) != 0)
      return number();
    return name_or_call(depth);
  }

  Result<Node> number() {
    Node node;
    const char* begin = text_.data() + position_;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), node.number);
    if (problem != std::errc())
      return error("holds a number that cannot be read");
    position_ += static_cast<std::size_t>(end - begin);
    return node;
  }

  Result<Node> name_or_call(int depth) {
    const std::size_t begin = position_;
    const auto part_of_name = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    while (position_ < text_.size() && part_of_name(text_[position_]))
      ++position_;
    const std::string name(text_.substr(begin, position_ - begin));
    if (name.empty())
      return error(fmt::format("unexpected '{}'", text_.substr(position_, 1)));
    Node node;
    if ((name == "min" || name == "max") && accept("(")) {
      node.op = name;
      do {
        KERNEVO_TRY(argument, binary(kComparison + 1, depth + 1));
        node.children.push_back(std::move(argument));
      } while (accept(","));
      if (!accept(")"))
        return error(fmt::format("lacks the ')' of {}", name));
      return node;
    }
    if (std::find(known_.begin(), known_.end(), name) == known_.end())
      return error(
          fmt::format("unknown metric or threshold '{}'{}", name, did_you_mean(name, known_)),
          "docs/profiling.md lists the metrics; a rule's own thresholds are under its "
          "'thresholds'");
    node.name = name;
    return node;
  }

  std::string_view text_;
  const std::vector<std::string>& known_;
  const Place& place_;
  std::size_t position_ = 0;
};

std::optional<double> number_of(const Node& node, const Lookup& lookup) {
  if (node.op.empty())
    return node.name.empty() ? std::optional(node.number) : lookup(node.name);
  std::optional<double> result;
  for (const Node& child : node.children) {
    const std::optional<double> next = number_of(child, lookup);
    if (!next)
      return std::nullopt;
    if (!result)
      result = next;
    else if (node.op == "+")
      *result += *next;
    else if (node.op == "-")
      *result -= *next;
    else if (node.op == "*")
      *result *= *next;
    else if (node.op == "min")
      result = std::min(*result, *next);
    else if (node.op == "max")
      result = std::max(*result, *next);
    else if (*next == 0)
      return std::nullopt;
    else
      *result /= *next;
  }
  return result && std::isfinite(*result) ? result : std::nullopt;
}

bool compare(const std::string& op, double left, double right) {
  if (op == "<")
    return left < right;
  if (op == "<=")
    return left <= right;
  if (op == ">")
    return left > right;
  if (op == ">=")
    return left >= right;
  return (left == right) == (op == "==");
}

bool truth_of(const Node& node, const Lookup& lookup, std::vector<RuleComparison>& trace) {
  if (node.op == "&&" || node.op == "||") {
    const bool left = truth_of(node.children[0], lookup, trace);
    const bool right = truth_of(node.children[1], lookup, trace);
    return node.op == "&&" ? left && right : left || right;
  }
  RuleComparison comparison{node.text, number_of(node.children[0], lookup),
                            number_of(node.children[1], lookup), false};
  comparison.holds =
      comparison.left && comparison.right && compare(node.op, *comparison.left, *comparison.right);
  trace.push_back(comparison);
  return comparison.holds;
}

const Node* comparison_of(const Node& node, const std::string& name) {
  if (!node.condition)
    return nullptr;
  if (node.op != "&&" && node.op != "||")
    return node.children[0].name == name ? &node : nullptr;
  const Node* left = comparison_of(node.children[0], name);
  return left != nullptr ? left : comparison_of(node.children[1], name);
}

void collect(const Node& node, std::set<std::string>& names) {
  if (!node.name.empty())
    names.insert(node.name);
  for (const Node& child : node.children)
    collect(child, names);
}

} // namespace

Result<MetricExpression> MetricExpression::parse(std::string_view text, Kind kind,
                                                 const std::vector<std::string>& known,
                                                 const Place& place) {
  KERNEVO_TRY(root, Parser(text, known, place).parse(kind));
  MetricExpression expression;
  expression.text_ = std::string(text);
  expression.root_ = std::make_shared<const Node>(std::move(root));
  return expression;
}

std::optional<double> MetricExpression::value(const Lookup& lookup) const {
  return number_of(*root_, lookup);
}

bool MetricExpression::holds(const Lookup& lookup, std::vector<RuleComparison>& trace) const {
  return truth_of(*root_, lookup, trace);
}

std::optional<double> MetricExpression::threshold_of(const std::string& name,
                                                     const Lookup& lookup) const {
  const Node* found = comparison_of(*root_, name);
  return found == nullptr ? std::nullopt : number_of(found->children[1], lookup);
}

std::set<std::string> MetricExpression::names() const {
  std::set<std::string> names;
  collect(*root_, names);
  return names;
}

} // namespace kernevo
