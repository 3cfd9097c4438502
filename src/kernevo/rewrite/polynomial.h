// Index expressions as polynomials with integer coefficients over symbols: parameters, thread and
// block indices, loop variables. What is no sum or product (a / b, a % b) is a symbol of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernevo::rewrite {

struct Expr;
class Code;

class Polynomial {
public:
  Polynomial() = default;
  static Polynomial constant(std::int64_t value);
  static Polynomial symbol(const std::string& name);
  // A quotient or remainder: equal texts are equal values; it depends on `inside`.
  static Polynomial opaque(const std::string& text, const std::set<std::string>& inside);

  bool operator==(const Polynomial& other) const { return terms_ == other.terms_; }
  std::optional<std::int64_t> as_constant() const;
  bool depends_on(const std::string& symbol) const;
  // What the symbol is multiplied with; nothing when it is squared or inside a quotient.
  std::optional<Polynomial> coefficient(const std::string& symbol) const;
  std::set<std::string> symbols() const; // those inside quotients too
  std::string text() const;              // an expression in C

  // Nothing when it overflows or grows beyond reason.
  static std::optional<Polynomial> add(const Polynomial& a, const Polynomial& b, int sign = 1);
  static std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b);

private:
  using Monomial = std::vector<std::string>; // sorted
  std::map<Monomial, std::int64_t> terms_;   // no zeros
  std::map<std::string, std::set<std::string>> opaque_;
};

// The value of a name or of "threadIdx.x"; nothing when it is not known to be fixed.
using Lookup = std::function<std::optional<Polynomial>(const std::string&)>;

// Casts between integers are looked through: indices are taken not to overflow.
std::optional<Polynomial> evaluate(const Expr& expr, const Code& code, const Lookup& lookup);

} // namespace kernevo::rewrite
