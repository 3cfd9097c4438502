#include "kernevo/explain/counter_map.h"
#include "kernevo/explain/match_ncu.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/explain/rules.h"
#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

std::string error_of(const char* text) {
  const auto map = CounterMap::parse(text, "metrics.yaml");
  EXPECT_FALSE(map) << text;
  return map ? "" : format_error(map.error());
}

// All that is needed, and nothing else.
CounterReadings readings(const char* kernel) {
  return {kernel,
          {{"gpu__time_duration.sum", 1000},
           {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed", 10},
           {"smsp__issue_inst0.avg.pct_of_peak_sustained_active", 80},
           {"l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed", 20},
           {"l1tex__m_xbar2l1tex_read_sectors.avg.pct_of_peak_sustained_elapsed", 30},
           {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 40},
           {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 90}}};
}

TEST(CounterMap, says_of_every_metric_where_it_comes_from) {
  const auto map = CounterMap::load();
  ASSERT_TRUE(map) << format_error(map.error());
  EXPECT_EQ(map->sources().size(), metric_table().size());
  for (const std::string& counter : map->counters()) {
    EXPECT_NE(counter.find("__"), std::string::npos) << counter;
    EXPECT_EQ(counter.find("_sass_"), std::string::npos)
        << counter << " needs patched code, which a range of launches does not have";
  }
  EXPECT_TRUE(std::ranges::any_of(map->sources(), &MetricSource::needed));
}

// What follows from other metrics must find them decided.
TEST(CounterMap, nothing_follows_from_what_comes_later) {
  const auto map = CounterMap::load();
  ASSERT_TRUE(map);
  std::set<std::string> later;
  for (const MetricSource& source : map->sources())
    later.insert(source.metric);
  for (const MetricSource& source : map->sources()) {
    if (source.follows)
      for (const std::string& name : source.follows->names()) {
        const auto& all = map->sources();
        const auto kept = std::ranges::find(all, name, &MetricSource::metric);
        EXPECT_TRUE(!later.contains(name) || (kept != all.end() && kept->kept))
            << source.metric << " follows from " << name;
      }
    later.erase(source.metric);
  }
}

TEST(CounterMap, every_metric_a_rule_compares_is_counted_or_says_why_not) {
  const auto map = CounterMap::load();
  ASSERT_TRUE(map);
  const std::vector<Rule> rules = load_rules().value();
  for (const Rule& rule : rules)
    for (const std::string& name : rule.when.names()) {
      if (rule.thresholds.contains(name))
        continue;
      const auto& all = map->sources();
      const auto source = std::ranges::find(all, name, &MetricSource::metric);
      ASSERT_NE(source, all.end()) << name;
      EXPECT_TRUE(!source->counted.empty() || source->follows || !source->why.empty()) << name;
    }
}

TEST(CounterMap, the_first_figure_with_all_its_counters_counts) {
  const auto map = CounterMap::parse(
      "- {metric: dram_bytes, counted: [a__x.sum + a__y.sum, a__z.sum / a__x.sum]}", "m.yaml");
  ASSERT_TRUE(map) << format_error(map.error());
  EXPECT_EQ(map->counters(), (std::vector<std::string>{"a__x.sum", "a__y.sum", "a__z.sum"}));
  const MetricSource& source = map->sources().front();
  EXPECT_EQ(CounterMap::counted(source, {"k", {{"a__x.sum", 1}, {"a__y.sum", 2}}}), 3);
  EXPECT_EQ(CounterMap::counted(source, {"k", {{"a__x.sum", 2}, {"a__z.sum", 3}}}), 1.5);
  EXPECT_EQ(CounterMap::counted(source, {"k", {{"a__x.sum", 0}, {"a__z.sum", 3}}}), std::nullopt);
  EXPECT_EQ(CounterMap::counted(source, {"k", {{"a__y.sum", 2}}}), std::nullopt);
}

TEST(CounterMap, mistakes_have_their_line) {
  EXPECT_NE(error_of("- {metric: dram_byte, counted: [a__b.sum]}").find("'dram_bytes'"),
            std::string::npos);
  EXPECT_NE(error_of("- {counted: [a__b.sum]}").find("'metric' is missing"), std::string::npos);
  EXPECT_NE(error_of("- {metric: time}").find("metrics.yaml:1:3: 'time' needs one origin"),
            std::string::npos);
  EXPECT_NE(error_of("- {metric: time, counted: [a__b.sum], kept: model, why: x}")
                .find("needs one origin"),
            std::string::npos);
  EXPECT_NE(error_of("- {metric: time, kept: model}").find("without a reason"), std::string::npos);
  EXPECT_NE(error_of("- {metric: time, kept: elsewhere, why: x}").find("unknown origin"),
            std::string::npos);
  EXPECT_NE(error_of("- {metric: time, needed: true, kept: model, why: x}")
                .find("is needed and not counted"),
            std::string::npos);
  EXPECT_NE(error_of("- {metric: time, counted: [share.dram]}").find("unknown metric"),
            std::string::npos);
  EXPECT_NE(error_of("- {metric: time, follows: a__b.sum}").find("unknown metric"),
            std::string::npos);
  EXPECT_NE(error_of("- {metric: time, counted: [a__b.sum]}\n- {metric: time, counted: [a__b.sum]}")
                .find("metrics.yaml:2:3: 'time' has a source already"),
            std::string::npos);
}

TEST(CounterMap, knows_what_is_missing) {
  const auto map = CounterMap::load();
  ASSERT_TRUE(map);
  CounterReadings some = readings("k");
  EXPECT_EQ(map->missing(some), nullptr);
  some.values.erase("dram__throughput.avg.pct_of_peak_sustained_elapsed");
  ASSERT_NE(map->missing(some), nullptr);
  EXPECT_EQ(map->missing(some)->metric, "share.dram");
}

struct Match : testing::Test {
  CounterMap map = CounterMap::load().value();
  Gpu gpu = find_gpu("A100").value();
  LaunchCounts first;
  LaunchCounts second;
  std::vector<NcuLaunch> launches;

  Match() {
    first.kernel = "k";
    first.grid = {8, 1, 1};
    first.block = {64, 1, 1};
    second = first;
    second.grid = {16, 1, 1};
  }

  NcuLaunch launch(const char* kernel, std::uint32_t blocks, double time) {
    NcuLaunch made;
    made.readings = readings(kernel);
    made.readings.values["gpu__time_duration.sum"] = time;
    made.grid = {blocks, 1, 1};
    made.block = {64, 1, 1};
    made.compute_capability = 80;
    made.line = 3;
    return made;
  }

  Result<HardwareCounters> match(const std::vector<PlannedCase>& cases) const {
    return match_ncu(launches, "runs/counters.csv", cases, map, gpu);
  }
  std::string error(const std::vector<PlannedCase>& cases) const {
    const auto matched = match(cases);
    EXPECT_FALSE(matched);
    return matched ? "" : format_error(matched.error());
  }
};

double time_of(const CounterReadings& readings) {
  return readings.values.at("gpu__time_duration.sum");
}

TEST_F(Match, goes_by_name_shape_and_order) {
  launches = {launch("warm_up", 8, 1), launch("k", 16, 2), launch("k", 8, 3), launch("k", 8, 4),
              launch("k", 8, 5)};
  const auto matched = match({{"small", {&first, &first}}, {"large", {&second}}});
  ASSERT_TRUE(matched) << format_error(matched.error());
  EXPECT_EQ(matched->origin, CounterOrigin::file);
  EXPECT_EQ(matched->label(), "counters.csv");
  EXPECT_EQ(time_of(matched->find("small")->at(0)), 3);
  EXPECT_EQ(time_of(matched->find("small")->at(1)), 4);
  EXPECT_EQ(time_of(matched->find("large")->at(0)), 2);
}

TEST_F(Match, a_file_that_says_no_shapes_goes_by_name_and_order) {
  launches = {launch("k", 8, 1), launch("k", 8, 2)};
  for (NcuLaunch& one : launches)
    one.grid = one.block = std::nullopt;
  const auto matched = match({{"small", {&first}}, {"large", {&second}}});
  ASSERT_TRUE(matched) << format_error(matched.error());
  EXPECT_EQ(time_of(matched->find("large")->at(0)), 2);
}

TEST_F(Match, says_what_does_not_fit) {
  launches = {launch("other", 8, 1)};
  EXPECT_NE(
      error({{"small", {&first}}}).find("runs/counters.csv: holds no launch of 'k', only of other"),
      std::string::npos);
  launches = {launch("k", 8, 1)};
  EXPECT_NE(error({{"large", {&second}}})
                .find("with grid (16, 1, 1) and block (64, 1, 1), as the "
                      "shape 'large' wants it"),
            std::string::npos);
  EXPECT_NE(error({{"small", {&first, &first}}}).find("holds no further launch of 'k'"),
            std::string::npos);
  launches.front().compute_capability = 90;
  EXPECT_NE(error({{"small", {&first}}})
                .find("counters.csv:3: 'k' was counted on a GPU of compute capability 9.0"),
            std::string::npos);
  launches = {launch("k", 8, 1)};
  launches.front().readings.values.erase("lts__throughput.avg.pct_of_peak_sustained_elapsed");
  EXPECT_NE(error({{"small", {&first}}})
                .find("counters.csv:3: 'k' has no "
                      "lts__throughput.avg.pct_of_peak_sustained_elapsed, which share.l2 comes of"),
            std::string::npos);
}

} // namespace
} // namespace kernevo
