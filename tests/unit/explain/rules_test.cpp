#include "kernevo/explain/rules.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

const std::string kRule = "- tag: spills\n"
                          "  thresholds: {some: 1}\n"
                          "  when: spill_bytes >= some\n"
                          "  severity: 0.5\n"
                          "  reason: Because.\n"
                          "  message: A thread spills {spill_bytes}.\n"
                          "  evidence: [spill_bytes]\n"
                          "  directions:\n"
                          "    - {name: shrink, text: Use less., when: registers > 32}\n";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kRule;
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(Rules, the_programs_own_cover_every_tag) {
  const auto rules = load_rules();
  ASSERT_TRUE(rules) << format_error(rules.error());
  EXPECT_EQ(rules->size(), static_cast<std::size_t>(kBottleneckTags));
}

TEST(Rules, are_read) {
  const auto rules = parse_rules(kRule, "r.yaml");
  ASSERT_TRUE(rules) << format_error(rules.error());
  ASSERT_EQ(rules->size(), 1U);
  EXPECT_EQ(rules->front().tag, BottleneckTag::spills);
  EXPECT_EQ(rules->front().thresholds.at("some"), 1);
  EXPECT_EQ(rules->front().directions.front().direction.name, "shrink");
  EXPECT_TRUE(rules->front().directions.front().when);
}

TEST(Rules, say_what_is_wrong_where_and_how_to_mend_it) {
  struct Case {
    std::string text;
    int line;
    std::string words;
  };
  for (const Case& c : {
           Case{with("tag: spills", "tag: spill"), 1, "did you mean 'spills'"},
           Case{with("  reason:", "  raeson:"), 5, "did you mean 'reason'"},
           Case{with("when: spill_bytes", "when: spill_byte"), 3, "did you mean 'spill_bytes'"},
           Case{with("evidence: [spill_bytes]", "evidence: [spil_bytes]"), 7,
                "did you mean 'spill_bytes'"},
           Case{with("{spill_bytes}", "{spill}"), 6, "unknown metric '{spill}'"},
           Case{with("spill_bytes >= some", "spill_bytes > 0"), 2, "threshold 'some' is not used"},
           Case{with("{some: 1}", "{registers: 1}"), 2, "already a metric"},
           Case{with("{some: 1}", "{some: much}"), 2, "must be a number"},
           Case{with("  message: A thread spills {spill_bytes}.\n", ""), 1, "'message' is missing"},
           Case{with("text: Use less.", "txt: Use less."), 9, "did you mean 'text'"},
           Case{with("severity: 0.5", "severity: registers > 2"), 4, "number is wanted"},
       }) {
    const auto rules = parse_rules(c.text, "r.yaml");
    ASSERT_FALSE(rules) << c.words;
    const std::string line = format_error(rules.error());
    EXPECT_NE(line.find(c.words), std::string::npos) << line;
    ASSERT_TRUE(rules.error().place) << line;
    EXPECT_EQ(rules.error().place->file, "r.yaml");
    EXPECT_EQ(rules.error().place->line, c.line) << line;
  }
}

} // namespace
} // namespace kernevo
