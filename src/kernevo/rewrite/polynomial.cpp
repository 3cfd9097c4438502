#include "kernevo/rewrite/polynomial.h"

#include "kernevo/rewrite/code.h"
#include "kernevo/rewrite/syntax.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

constexpr std::size_t kMostTerms = 64;
constexpr std::size_t kHighestDegree = 8;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    return std::nullopt; // octal, binary
  }
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace

Polynomial Polynomial::constant(std::int64_t value) {
  Polynomial result;
  if (value != 0)
    result.terms_[{}] = value;
  return result;
}

Polynomial Polynomial::symbol(const std::string& name) {
  Polynomial result;
  result.terms_[{name}] = 1;
  return result;
}

Polynomial Polynomial::opaque(const std::string& text, const std::set<std::string>& inside) {
  Polynomial result = symbol(text);
  result.opaque_[text] = inside;
  return result;
}

std::optional<std::int64_t> Polynomial::as_constant() const {
  if (terms_.empty())
    return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty())
    return terms_.begin()->second;
  return std::nullopt;
}

bool Polynomial::depends_on(const std::string& symbol) const {
  return symbols().contains(symbol);
}

std::set<std::string> Polynomial::symbols() const {
  std::set<std::string> result;
  for (const auto& [monomial, factor] : terms_)
    for (const std::string& name : monomial) {
      result.insert(name);
      if (const auto inside = opaque_.find(name); inside != opaque_.end())
        result.insert(inside->second.begin(), inside->second.end());
    }
  return result;
}

std::optional<Polynomial> Polynomial::coefficient(const std::string& symbol) const {
  Polynomial result;
  result.opaque_ = opaque_;
  for (const auto& [monomial, factor] : terms_) {
    for (const std::string& name : monomial)
      if (const auto inside = opaque_.find(name);
          inside != opaque_.end() && inside->second.contains(symbol))
        return std::nullopt;
    const auto count = std::count(monomial.begin(), monomial.end(), symbol);
    if (count > 1)
      return std::nullopt;
    if (count == 1) {
      Monomial rest = monomial;
      rest.erase(std::find(rest.begin(), rest.end(), symbol));
      result.terms_[rest] = factor;
    }
  }
  return result;
}

std::string Polynomial::text() const {
  std::vector<std::string> parts;
  for (const auto& [monomial, factor] : terms_)
    if (monomial.empty())
      parts.push_back(fmt::format("{}", factor));
    else if (factor == 1)
      parts.push_back(fmt::format("{}", fmt::join(monomial, " * ")));
    else
      parts.push_back(fmt::format("{} * {}", factor, fmt::join(monomial, " * ")));
  if (parts.empty())
    return "0";
  return parts.size() == 1 && terms_.begin()->first.size() < 2 && terms_.begin()->second >= 0
             ? parts[0]
             : fmt::format("({})", fmt::join(parts, " + "));
}

std::optional<Polynomial> Polynomial::add(const Polynomial& a, const Polynomial& b, int sign) {
  Polynomial result = a;
  result.opaque_.insert(b.opaque_.begin(), b.opaque_.end());
  for (const auto& [monomial, factor] : b.terms_) {
    std::int64_t& into = result.terms_[monomial];
    std::int64_t signed_factor = 0;
    if (__builtin_mul_overflow(factor, sign, &signed_factor) ||
        __builtin_add_overflow(into, signed_factor, &into))
      return std::nullopt;
    if (into == 0)
      result.terms_.erase(monomial);
  }
  if (result.terms_.size() > kMostTerms)
    return std::nullopt;
  return result;
}

std::optional<Polynomial> Polynomial::multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  result.opaque_ = a.opaque_;
  result.opaque_.insert(b.opaque_.begin(), b.opaque_.end());
  for (const auto& [left, left_factor] : a.terms_)
    for (const auto& [right, right_factor] : b.terms_) {
      Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end());
      std::int64_t product = 0;
      std::int64_t& into = result.terms_[both];
      if (both.size() > kHighestDegree ||
          __builtin_mul_overflow(left_factor, right_factor, &product) ||
          __builtin_add_overflow(into, product, &into))
        return std::nullopt;
      if (into == 0)
        result.terms_.erase(both);
    }
  if (result.terms_.size() > kMostTerms)
    return std::nullopt;
  return result;
}

std::optional<Polynomial> evaluate(const Expr& expr, const Code& code, const Lookup& lookup) {
  switch (expr.kind) {
  case Expr::Kind::number:
    if (const auto value = parse_integer(expr.text))
      return Polynomial::constant(*value);
    return std::nullopt;
  case Expr::Kind::name: return lookup(expr.text);
  case Expr::Kind::member:
    if (expr.kids[0]->kind == Expr::Kind::name)
      return lookup(expr.kids[0]->text + "." + expr.text);
    return std::nullopt;
  case Expr::Kind::cast:
    if (code.is_integer_type(expr.text))
      return evaluate(*expr.kids[0], code, lookup);
    return std::nullopt;
  case Expr::Kind::unary: {
    if (expr.text != "-" && expr.text != "+")
      return std::nullopt;
    const auto operand = evaluate(*expr.kids[0], code, lookup);
    if (!operand)
      return std::nullopt;
    return Polynomial::add({}, *operand, expr.text == "-" ? -1 : 1);
  }
  case Expr::Kind::binary: {
    const auto left = evaluate(*expr.kids[0], code, lookup);
    const auto right = evaluate(*expr.kids[1], code, lookup);
    if (!left || !right)
      return std::nullopt;
    if (expr.text == "+" || expr.text == "-")
      return Polynomial::add(*left, *right, expr.text == "+" ? 1 : -1);
    if (expr.text == "*")
      return Polynomial::multiply(*left, *right);
    if (expr.text == "/" || expr.text == "%") {
      std::set<std::string> inside = left->symbols();
      const std::set<std::string> more = right->symbols();
      inside.insert(more.begin(), more.end());
      return Polynomial::opaque(fmt::format("({} {} {})", left->text(), expr.text, right->text()),
                                inside);
    }
    return std::nullopt;
  }
  default: return std::nullopt;
  }
}

} // namespace kernevo::rewrite
