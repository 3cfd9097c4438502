// docs/profiling.md lists the rules and the metrics; this holds the lists against the data.
#include "kernevo/base/files.h"
#include "kernevo/explain/counter_map.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/explain/rules.h"
#include "places.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

std::string rules_table() {
  std::string table = "| tag | fires when | directions |\n|---|---|---|\n";
  const std::vector<Rule> rules = load_rules().value();
  for (const Rule& rule : rules) {
    std::string when = rule.when.text();
    // A bar ends a table's cell, even inside code.
    for (std::size_t at = when.find("||"); at != std::string::npos; at = when.find("||"))
      when.replace(at, 2, "or");
    std::string limits;
    for (const auto& [name, value] : rule.thresholds)
      limits += fmt::format("{}{} {:g}", limits.empty() ? "" : ", ", name, value);
    std::string directions;
    for (const RuleDirection& d : rule.directions)
      directions += (directions.empty() ? "" : ", ") + d.direction.name;
    table += fmt::format("| {} | `{}`; {} | {} |\n", name_of(rule.tag), when, limits, directions);
  }
  return table;
}

std::string metrics_table() {
  std::string table = "| metric | unit | meaning |\n|---|---|---|\n";
  for (const MetricInfo& m : metric_table())
    table += fmt::format("| `{}` | {} | {} |\n", m.name, m.unit, m.meaning);
  return table;
}

std::string counters_table(const CounterMap& map) {
  std::string table = "| metric | of hardware's counters, the first that it has |\n|---|---|\n";
  for (const MetricSource& source : map.sources()) {
    std::string figures;
    for (const MetricExpression& figure : source.counted)
      figures += fmt::format("{}`{}`", figures.empty() ? "" : " or ", figure.text());
    if (!figures.empty())
      table += fmt::format("| `{}` | {} |\n", source.metric, figures);
  }
  return table;
}

void expect_in_page(const std::string& table) {
  const auto page =
      read_text_file(std::filesystem::path(source_folder()) / "docs" / "profiling.md");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find(table), std::string::npos)
      << "docs/profiling.md should contain exactly this table:\n"
      << table;
}

TEST(Documentation, lists_every_rule_as_it_is) {
  expect_in_page(rules_table());
}
TEST(Documentation, lists_every_metric_as_it_is) {
  expect_in_page(metrics_table());
}

TEST(Documentation, lists_every_counter_as_it_is) {
  const auto map = CounterMap::load();
  ASSERT_TRUE(map);
  expect_in_page(counters_table(*map));
  expect_in_page(fmt::format("--metrics {}\n", fmt::join(map->counters(), ",")));
}

TEST(Documentation, every_tag_has_its_pair_of_examples) {
  for (int i = 0; i < kBottleneckTags; ++i)
    for (const char* file : {"task.yaml", "before.cu", "after.cu"})
      EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(source_folder()) / "examples" /
                                          "bottlenecks" / name_of(static_cast<BottleneckTag>(i)) /
                                          file))
          << name_of(static_cast<BottleneckTag>(i)) << "/" << file;
}

} // namespace
} // namespace kernevo
