#include "kernevo/task/load_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {
namespace {

constexpr double kLongestTime = 1e12; // microseconds; eleven days

// Kerlever's form: a metric and how the shapes' figures are put together.
Result<void> read_metric_objective(const YamlNode& map, Task& task,
                                   std::vector<std::string>& warnings) {
  KERNEVO_CHECK(
      check_keys(map, {"primary_metric", "aggregation", "regression_guard_pct"}, "objective"));
  const YamlNode* metric_node = map.find("primary_metric");
  if (metric_node == nullptr)
    return fail(ErrorCode::input, "objective has no primary_metric", map.place,
                "add 'primary_metric: weighted_p50_us'");
  const std::vector<std::string> metrics = {"weighted_p50_us", "weighted_p95_us",
                                            "worst_case_p50_us"};
  KERNEVO_TRY(metric, read_choice(*metric_node, "primary_metric", metrics));
  bool worst = metric == "worst_case_p50_us";
  if (const YamlNode* node = map.find("aggregation")) {
    KERNEVO_TRY(aggregation, read_choice(*node, "aggregation", {"weighted_mean", "max"}));
    if ((aggregation == "max") != worst)
      warnings.push_back(
          fmt::format("primary_metric {} and aggregation {} disagree; the worst case is used",
                      metric, aggregation));
    worst = worst || aggregation == "max";
  }
  if (metric == "weighted_p95_us")
    warnings.emplace_back("weighted_p95_us is scored by medians here");
  if (const YamlNode* node = map.find("regression_guard_pct")) {
    KERNEVO_TRY(guard, read_number(*node, {"regression_guard_pct", "", 0.0}));
    if (guard > 0)
      warnings.emplace_back(
          "regression_guard_pct is not needed: ties and regressions never replace the best");
  }
  task.objective = worst ? Objective::worst_case_time : Objective::weighted_mean_time;
  return {};
}

Result<void> read_objective(const YamlNode& node, Task& task, std::vector<std::string>& warnings) {
  if (node.kind == YamlNode::Kind::map)
    return read_metric_objective(node, task, warnings);
  const std::vector<std::string> names = {"geometric_mean", "weighted_mean", "worst_case"};
  KERNEVO_TRY(name, read_choice(node, "objective", names));
  task.objective =
      static_cast<Objective>(std::find(names.begin(), names.end(), name) - names.begin());
  return {};
}

Result<void> read_budget(const YamlNode& root, Task& task) {
  constexpr int most = 1'000'000'000;
  const YamlNode* rounds = root.find("max_rounds");
  if (rounds != nullptr) {
    KERNEVO_TRY(value, read_integer(*rounds, "max_rounds", 1, most));
    task.budget.rounds = static_cast<int>(value);
  }
  const YamlNode* budget = root.find("budget");
  if (budget == nullptr)
    return {};
  KERNEVO_CHECK(expect_map(*budget, "budget"));
  KERNEVO_CHECK(check_keys(*budget, {"rounds", "evaluations", "seconds"}, "budget"));
  if (const YamlNode* node = budget->find("rounds")) {
    if (rounds != nullptr)
      return fail(ErrorCode::input, "'max_rounds' and 'budget.rounds' mean the same", node->place,
                  "keep one of them");
    KERNEVO_TRY(value, read_integer(*node, "rounds", 1, most));
    task.budget.rounds = static_cast<int>(value);
  }
  if (const YamlNode* node = budget->find("evaluations")) {
    KERNEVO_TRY(value, read_integer(*node, "evaluations", 1, most));
    task.budget.evaluations = static_cast<int>(value);
  }
  if (const YamlNode* node = budget->find("seconds")) {
    KERNEVO_TRY(value, read_number(*node, {"seconds", "seconds", 0.0, 1e9, true}));
    task.budget.seconds = value;
  }
  return {};
}

} // namespace

Result<void> read_goal(const YamlNode& root, Task& task, std::vector<std::string>& warnings) {
  KERNEVO_TRY(target, find_one(root, {"target_us", "target_perf_us", "target_metric_value"}));
  if (target != nullptr) {
    KERNEVO_TRY(value,
                read_number(*target, {"the target", "microseconds", 0.0, kLongestTime, true}));
    task.target_us = value;
  }
  if (const YamlNode* node = root.find("baseline_perf_us")) {
    KERNEVO_TRY(value,
                read_number(*node, {"baseline_perf_us", "microseconds", 0.0, kLongestTime, true}));
    task.declared_baseline_us = value;
  }
  if (const YamlNode* node = root.find("objective"))
    KERNEVO_CHECK(read_objective(*node, task, warnings));
  return read_budget(root, task);
}

} // namespace kernevo
