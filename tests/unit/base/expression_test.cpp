#include "kernevo/base/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

std::int64_t value_of(const std::string& text,
                      const std::map<std::string, std::int64_t>& names = {}) {
  const auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << text << ": " << (expression ? "" : expression.error().message);
  if (!expression)
    return -999;
  const auto value = expression->evaluate(names);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? *value : -999;
}

Error parse_error(const std::string& text) {
  const auto expression = Expression::parse(text, Place{"k.cu", 7, 10});
  EXPECT_FALSE(expression) << text;
  return expression ? Error{} : expression.error();
}

Error evaluation_error(const std::string& text,
                       const std::map<std::string, std::int64_t>& names = {}) {
  const auto expression = Expression::parse(text, Place{"k.cu", 7, 10});
  EXPECT_TRUE(expression) << text;
  if (!expression)
    return {};
  const auto value = expression->evaluate(names);
  EXPECT_FALSE(value) << text << " gave " << (value ? *value : 0);
  return value ? Error{} : value.error();
}

TEST(Expression, follows_c_precedence_and_associativity) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("100 / 10 / 2"), 5);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("1 << 2 + 3"), 32);
  EXPECT_EQ(value_of("1 | 2 ^ 3 & 4"), (1 | (2 ^ (3 & 4))));
  EXPECT_EQ(value_of("1 & 2 == 2"), 1);
  EXPECT_EQ(value_of("0 || 1 && 0"), 0);
  EXPECT_EQ(value_of("1 ? 2 : 0 ? 3 : 4"), 2);
  EXPECT_EQ(value_of("0 ? 2 : 0 ? 3 : 4"), 4);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("!5 + ~0"), -1);
  EXPECT_EQ(value_of("- - 3"), 3);
}

TEST(Expression, division_truncates_like_c) {
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("-7 % 2"), -1);
  EXPECT_EQ(value_of("-7 >> 1"), -4);
}

TEST(Expression, functions) {
  EXPECT_EQ(value_of("ceil_div(10, 3)"), 4);
  EXPECT_EQ(value_of("ceil_div(9, 3)"), 3);
  EXPECT_EQ(value_of("ceil_div(0, 3)"), 0);
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value_of("min(3, 1, 2)"), 1);
  EXPECT_EQ(value_of("max(3, 1, 2)"), 3);
  EXPECT_EQ(value_of("next_pow2(0)"), 1);
  EXPECT_EQ(value_of("next_pow2(33)"), 64);
  EXPECT_EQ(value_of("next_pow2(64)"), 64);
}

TEST(Expression, number_forms) {
  EXPECT_EQ(value_of("0x1F"), 31);
  EXPECT_EQ(value_of("0b101"), 5);
  EXPECT_EQ(value_of("010"), 8);
  EXPECT_EQ(value_of("1'000'000"), 1000000);
  EXPECT_EQ(value_of("16ULL"), 16);
  EXPECT_EQ(value_of("9223372036854775807"), INT64_MAX);
}

TEST(Expression, names_are_looked_up_and_listed) {
  EXPECT_EQ(value_of("ceil_div(N, BN) * M", {{"N", 100}, {"BN", 32}, {"M", 3}}), 12);
  const auto expression = Expression::parse("ceil_div(N, BN) + (x ? N : y)");
  ASSERT_TRUE(expression);
  EXPECT_EQ(expression->names(), (std::set<std::string>{"N", "BN", "x", "y"}));
  EXPECT_EQ(expression->text(), "ceil_div(N, BN) + (x ? N : y)");
}

TEST(Expression, logical_operators_and_conditionals_short_circuit) {
  EXPECT_EQ(value_of("N != 0 && 10 / N > 1", {{"N", 0}}), 0);
  EXPECT_EQ(value_of("N == 0 || 10 / N > 1", {{"N", 0}}), 1);
  EXPECT_EQ(value_of("N ? 10 / N : 7", {{"N", 0}}), 7);
}

TEST(Expression, syntax_errors_name_the_column) {
  EXPECT_EQ(parse_error("1 + ").place->column, 10 + 4);
  EXPECT_EQ(parse_error("1 + @").place->column, 10 + 4);
  EXPECT_EQ(parse_error("1 + @").place->line, 7);
  EXPECT_EQ(parse_error("(1 + 2").place->column, 10 + 6);
  EXPECT_EQ(parse_error("1 2").place->column, 10 + 2);
  EXPECT_EQ(parse_error("1 ? 2").place->column, 10 + 5);
  EXPECT_THAT(parse_error("").message, HasSubstr("empty"));
  EXPECT_THAT(parse_error("1.5").message, HasSubstr("not an integer"));
  EXPECT_THAT(parse_error("12abc").message, HasSubstr("not an integer"));
  EXPECT_THAT(parse_error("0x").message, HasSubstr("no digits"));
  EXPECT_THAT(parse_error("9223372036854775808").message, HasSubstr("64 bits"));
  EXPECT_THAT(parse_error("a = 3").message, HasSubstr("'='"));
  EXPECT_THAT(parse_error("a; b").message, HasSubstr("';'"));
}

TEST(Expression, wrong_calls_are_refused) {
  EXPECT_THAT(parse_error("ceildiv(1, 2)").message, HasSubstr("did you mean 'ceil_div'?"));
  EXPECT_THAT(parse_error("system(1)").message, HasSubstr("unknown function"));
  EXPECT_THAT(parse_error("ceil_div(1)").message, HasSubstr("takes 2 arguments, 1 given"));
  EXPECT_THAT(parse_error("max(1)").message, HasSubstr("2 or more"));
  EXPECT_THAT(parse_error("next_pow2(1, 2)").message, HasSubstr("takes 1 argument, 2 given"));
  parse_error("min()");
}

TEST(Expression, evaluation_errors_name_the_column) {
  const Error unknown = evaluation_error("M * BLOCKM", {{"M", 1}, {"BLOCK_M", 2}});
  EXPECT_THAT(unknown.message, HasSubstr("unknown name 'BLOCKM' (did you mean 'BLOCK_M'?)"));
  EXPECT_EQ(unknown.place->column, 10 + 4);
  EXPECT_EQ(unknown.place->file, "k.cu");
  EXPECT_THAT(evaluation_error("1 / 0").message, HasSubstr("division by zero"));
  EXPECT_THAT(evaluation_error("1 % 0").message, HasSubstr("division by zero"));
  EXPECT_THAT(evaluation_error("ceil_div(1, 0)").message, HasSubstr("division by zero"));
}

TEST(Expression, overflow_is_an_error_not_a_wrap) {
  const std::map<std::string, std::int64_t> names = {{"big", INT64_MAX}, {"low", INT64_MIN}};
  for (const char* text : {"big + 1", "low - 1", "big * 2", "-low", "low / -1", "low % -1",
                           "big << 1", "next_pow2(big)", "ceil_div(low, -1)"})
    EXPECT_THAT(evaluation_error(text, names).message, HasSubstr("64 bits")) << text;
  EXPECT_THAT(evaluation_error("1 << 64").message, HasSubstr("outside 0 to 63"));
  EXPECT_THAT(evaluation_error("1 >> -1").message, HasSubstr("outside 0 to 63"));
  EXPECT_THAT(evaluation_error("-1 << 1").message, HasSubstr("negative"));
}

TEST(Expression, hostile_sizes_are_refused) {
  EXPECT_THAT(parse_error(std::string(2000, '(')).message, HasSubstr("too deeply"));
  EXPECT_THAT(parse_error(std::string(2000, '-') + "1").message, HasSubstr("too deeply"));
  EXPECT_THAT(parse_error(std::string(5000, '1')).message, HasSubstr("longer than"));
  std::string chain = "1";
  for (int i = 0; i < 1000; ++i)
    chain += "+1";
  EXPECT_THAT(parse_error(chain).message, HasSubstr("too many operators"));
  std::string conditions;
  for (int i = 0; i < 500; ++i)
    conditions += "1?";
  parse_error(conditions);
}

} // namespace
} // namespace kernevo
