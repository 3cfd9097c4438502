#include "kernevo/explain/metric_expression.h"

#include <gtest/gtest.h>
#include <map>

namespace kernevo {
namespace {

const std::vector<std::string> kKnown = {"a", "b.c", "none"};

std::optional<double> lookup(const std::string& name) {
  const std::map<std::string, double> values = {{"a", 0.5}, {"b.c", 4}};
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> value(const std::string& text) {
  const auto e =
      MetricExpression::parse(text, MetricExpression::Kind::number, kKnown, {"rules.yaml", 7});
  EXPECT_TRUE(e) << e.error().message;
  return e ? e->value(lookup) : std::nullopt;
}

bool holds(const std::string& text, std::vector<RuleComparison>* trace = nullptr) {
  const auto e =
      MetricExpression::parse(text, MetricExpression::Kind::condition, kKnown, {"rules.yaml", 7});
  EXPECT_TRUE(e) << text << ": " << e.error().message;
  std::vector<RuleComparison> ignored;
  return e && e->holds(lookup, trace != nullptr ? *trace : ignored);
}

TEST(MetricExpression, computes) {
  EXPECT_EQ(value("1 + 2 * b.c"), 9);
  EXPECT_EQ(value("(1 + 2) * b.c"), 12);
  EXPECT_EQ(value("b.c - 1 - 1"), 2);
  EXPECT_EQ(value("min(a, b.c, 0.25) + max(a, 2)"), 2.25);
}

TEST(MetricExpression, what_is_unknown_stays_unknown) {
  EXPECT_EQ(value("1 + none"), std::nullopt);
  EXPECT_EQ(value("a / 0"), std::nullopt);
  EXPECT_FALSE(holds("none >= 0"));
  EXPECT_FALSE(holds("none < 0"));
}

TEST(MetricExpression, decides) {
  EXPECT_TRUE(holds("a >= 0.5 && b.c == 4"));
  EXPECT_FALSE(holds("a > 0.5 && b.c == 4"));
  EXPECT_TRUE(holds("a > 0.5 || b.c != 5"));
  EXPECT_TRUE(holds("(a > 1 || a < 1) && a + 1 <= b.c"));
  EXPECT_TRUE(holds("a > 1 && a > 1 || a < 1")); // && binds closer
}

TEST(MetricExpression, traces_every_comparison_with_its_values) {
  std::vector<RuleComparison> trace;
  EXPECT_FALSE(holds("a > 1 && (b.c >= 2 * a || none < 3)", &trace));
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace[0], (RuleComparison{"a > 1", 0.5, 1.0, false}));
  EXPECT_EQ(trace[1], (RuleComparison{"b.c >= 2 * a", 4.0, 1.0, true}));
  EXPECT_EQ(trace[2], (RuleComparison{"none < 3", std::nullopt, 3.0, false}));
}

TEST(MetricExpression, knows_what_a_metric_is_compared_with) {
  const auto e = MetricExpression::parse("a > 1 && b.c >= 2 * a", MetricExpression::Kind::condition,
                                         kKnown, {});
  ASSERT_TRUE(e);
  EXPECT_EQ(e->threshold_of("b.c", lookup), 1);
  EXPECT_EQ(e->threshold_of("none", lookup), std::nullopt);
}

TEST(MetricExpression, refuses_nonsense_at_its_place) {
  using Kind = MetricExpression::Kind;
  for (const auto& [text, kind, word] : std::vector<std::tuple<std::string, Kind, std::string>>{
           {"", Kind::number, "empty"},
           {"a +", Kind::number, "too early"},
           {"a b.c", Kind::number, "unexpected"},
           {"(a", Kind::number, "')'"},
           {"b.d > 1", Kind::condition, "did you mean 'b.c'"},
           {"a", Kind::condition, "condition is wanted"},
           {"a > 1", Kind::number, "number is wanted"},
           {"a && a > 1", Kind::condition, "comparisons"},
           {"(a > 1) + 1 > 0", Kind::condition, "numbers"},
           {"a < 1 < 2", Kind::condition, "numbers"},
           {"a @ 1", Kind::number, "unexpected"},
           {std::string(1000, '(') + "a", Kind::number, "deeply"}}) {
    const auto e = MetricExpression::parse(text, kind, kKnown, {"rules.yaml", 7});
    ASSERT_FALSE(e) << text;
    EXPECT_NE(e.error().message.find(word), std::string::npos) << e.error().message;
    EXPECT_EQ(e.error().place->line, 7);
  }
}

} // namespace
} // namespace kernevo
