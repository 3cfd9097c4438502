// Random expressions, built together with their value by plain C++ arithmetic, must evaluate to
// that value when printed with only the parentheses C needs.
#include "kernevo/base/expression.h"
#include "kernevo/base/random.h"

#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>

namespace kernevo {
namespace {

struct Sample {
  std::string text;
  std::optional<__int128> value; // absent: evaluation must fail
  int precedence = 100;          // of the outermost operator
};

class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Sample make(int depth) {
    const int kind = depth == 0 ? pick(2) : pick(13);
    if (kind < 2)
      return leaf();
    if (kind == 2)
      return unary(depth);
    if (kind == 3)
      return conditional(depth);
    if (kind == 4)
      return function(depth);
    return binary(depth);
  }

private:
  int pick(int count) { return static_cast<int>(random_.integer(next_++, 0, count - 1)); }

  static std::optional<__int128> fit(__int128 value) {
    if (value > INT64_MAX || value < INT64_MIN)
      return std::nullopt;
    return value;
  }

  Sample leaf() {
    static constexpr std::array<std::int64_t, 9> kInteresting = {0,  1,    2,          3,        7,
                                                                 63, 4096, 2147483648, INT64_MAX};
    const std::int64_t value = kInteresting[static_cast<std::size_t>(pick(9))];
    return {pick(2) == 0 ? fmt::format("{}", value) : fmt::format("0x{:x}", value), value, 100};
  }

  static std::string wrapped(const Sample& sample, int least) {
    return sample.precedence < least ? "(" + sample.text + ")" : sample.text;
  }

  Sample unary(int depth) {
    const Sample operand = make(depth - 1);
    const std::string inner = wrapped(operand, 11);
    switch (pick(3)) {
    case 0: return {"- " + inner, operand.value ? fit(-*operand.value) : std::nullopt, 11};
    case 1:
      return {"~" + inner, operand.value ? std::optional<__int128>(~*operand.value) : std::nullopt,
              11};
    default:
      return {"!" + inner,
              operand.value ? std::optional<__int128>(*operand.value == 0 ? 1 : 0) : std::nullopt,
              11};
    }
  }

  Sample conditional(int depth) {
    const Sample condition = make(depth - 1);
    const Sample yes = make(depth - 1);
    const Sample no = make(depth - 1);
    const std::string text =
        fmt::format("{} ? {} : {}", wrapped(condition, 1), yes.text, wrapped(no, 0));
    if (!condition.value)
      return {text, std::nullopt, 0};
    return {text, *condition.value != 0 ? yes.value : no.value, 0};
  }

  Sample function(int depth) {
    const Sample a = make(depth - 1);
    const Sample b = make(depth - 1);
    const bool known = a.value && b.value;
    switch (pick(3)) {
    case 0:
      return {fmt::format("min({},{})", a.text, b.text),
              known ? std::optional(std::min(*a.value, *b.value)) : std::nullopt, 100};
    case 1:
      return {fmt::format("max({},{})", a.text, b.text),
              known ? std::optional(std::max(*a.value, *b.value)) : std::nullopt, 100};
    default: {
      std::optional<__int128> value;
      if (known && *b.value != 0) {
        __int128 quotient = *a.value / *b.value;
        if (quotient * *b.value != *a.value && (*a.value < 0) == (*b.value < 0))
          ++quotient;
        value = fit(quotient);
      }
      return {fmt::format("ceil_div({},{})", a.text, b.text), value, 100};
    }
    }
  }

  Sample binary(int depth) {
    struct Form {
      const char* token;
      int precedence;
    };
    static constexpr std::array<Form, 18> kForms = {{{"*", 10},
                                                     {"/", 10},
                                                     {"%", 10},
                                                     {"+", 9},
                                                     {"-", 9},
                                                     {"<<", 8},
                                                     {">>", 8},
                                                     {"<", 7},
                                                     {"<=", 7},
                                                     {">", 7},
                                                     {">=", 7},
                                                     {"==", 6},
                                                     {"!=", 6},
                                                     {"&", 5},
                                                     {"^", 4},
                                                     {"|", 3},
                                                     {"&&", 2},
                                                     {"||", 1}}};
    const int which = pick(18);
    const Form& form = kForms[static_cast<std::size_t>(which)];
    const Sample a = make(depth - 1);
    const Sample b = make(depth - 1);
    const std::string text = fmt::format("{} {} {}", wrapped(a, form.precedence), form.token,
                                         wrapped(b, form.precedence + 1));
    return {text, apply(which, a.value, b.value), form.precedence};
  }

  static std::optional<__int128> apply(int which, std::optional<__int128> a,
                                       std::optional<__int128> b) {
    if (!a)
      return std::nullopt;
    if (which == 16 && *a == 0)
      return 0;
    if (which == 17 && *a != 0)
      return 1;
    if (!b)
      return std::nullopt;
    const __int128 x = *a;
    const __int128 y = *b;
    const bool overflows = x == INT64_MIN && y == -1;
    switch (which) {
    case 0: return fit(x * y);
    case 1: return y == 0 ? std::nullopt : fit(x / y);
    case 2: return y == 0 || overflows ? std::nullopt : fit(x % y);
    case 3: return fit(x + y);
    case 4: return fit(x - y);
    case 5: return y < 0 || y > 63 || x < 0 ? std::nullopt : fit(x << static_cast<int>(y));
    case 6: return y < 0 || y > 63 ? std::nullopt : fit(x >> static_cast<int>(y));
    case 7: return x < y;
    case 8: return x <= y;
    case 9: return x > y;
    case 10: return x >= y;
    case 11: return x == y;
    case 12: return x != y;
    case 13: return x & y;
    case 14: return x ^ y;
    case 15: return x | y;
    default: return y != 0;
    }
  }

  CounterRandom random_;
  std::uint64_t next_ = 0;
};

TEST(ExpressionProperty, agrees_with_wide_integer_arithmetic) {
  int failures_expected = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    const Sample sample = Generator(seed).make(1 + static_cast<int>(seed % 5));
    if (sample.text.size() > 4096)
      continue;
    const auto expression = Expression::parse(sample.text);
    ASSERT_TRUE(expression) << sample.text << ": " << expression.error().message;
    const auto value = expression->evaluate({});
    ASSERT_EQ(value.has_value(), sample.value.has_value()) << sample.text;
    if (value) {
      ASSERT_EQ(*value, static_cast<std::int64_t>(*sample.value)) << sample.text;
    } else {
      ++failures_expected;
      ASSERT_FALSE(value.error().message.empty());
    }
  }
  EXPECT_GT(failures_expected, 500); // overflow and division by zero do occur in the sample
}

TEST(ExpressionProperty, any_bytes_parse_or_fail_cleanly) {
  static constexpr std::string_view kAlphabet = "0123456789abxNM_+-*/%<>=!&|^~?:,() \t.'@#\\";
  const CounterRandom random(42);
  std::uint64_t next = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const auto length = random.integer(next++, 0, 24);
    for (std::int64_t i = 0; i < length; ++i)
      text += kAlphabet[random.bits(next++) % kAlphabet.size()];
    const auto expression = Expression::parse(text, Place{"f", 3, 5});
    if (expression) {
      (void)expression->evaluate({{"N", 4}, {"M", -1}, {"x", 0}});
    } else {
      ASSERT_TRUE(expression.error().place);
      EXPECT_GE(expression.error().place->column, 5);
      EXPECT_LE(expression.error().place->column, 5 + static_cast<int>(text.size()));
    }
  }
}

} // namespace
} // namespace kernevo
