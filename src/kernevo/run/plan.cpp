#include "kernevo/run/plan.h"

#include "kernevo/base/printable.h"
#include "kernevo/base/suggest.h"
#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/run/proposers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace kernevo::run {
namespace {

constexpr std::uint64_t kDefaultEvaluations = 300;
constexpr std::uint64_t kDefaultRounds = 20;      // of an agent
constexpr std::uint64_t kDefaultTokens = 200'000; // of a run with models and no cap of its own

using Limit = std::pair<const char*, std::optional<double>>;

tl::unexpected<Error> wrong(const std::string& text, const std::string& fix) {
  return fail(ErrorCode::usage, text, std::nullopt, fix);
}

Result<void> check_positive(const std::vector<Limit>& limits) {
  for (const auto& [name, value] : limits)
    if (value && !(std::isfinite(*value) && *value > 0))
      return wrong(fmt::format("{} {} is not above 0", name, *value),
                   "give a number above 0, or leave it out");
  return {};
}

Result<void> check_name(const std::string& name) {
  if (name == "." || name == ".." || name.find('/') != std::string::npos)
    return wrong(fmt::format("'{}' is not a name for a run", name), "use --out for a folder");
  if (printable(name) != name)
    return wrong(fmt::format("'{}' is not a name for a run: it cannot be shown", printable(name)),
                 "use letters and digits");
  return {};
}

bool has_limit(const RunBudget& budget) {
  return budget.rounds || budget.evaluations || budget.seconds;
}

void limit_loop(RunBudget& budget, const Task& task) {
  if (!budget.rounds && task.budget.rounds)
    budget.rounds = static_cast<std::uint64_t>(*task.budget.rounds);
  if (!budget.evaluations && task.budget.evaluations)
    budget.evaluations = static_cast<std::uint64_t>(*task.budget.evaluations);
  if (!budget.seconds)
    budget.seconds = task.budget.seconds;
  if (!has_limit(budget))
    budget.evaluations = kDefaultEvaluations;
}

// Where nobody knows what a token costs, a cap in dollars alone may not hold.
void limit_tokens(RunBudget& budget, const std::vector<ModelSettings>& models) {
  const bool priced = std::all_of(models.begin(), models.end(), [](const ModelSettings& model) {
    return model.price.has_value();
  });
  if (!models.empty() && !budget.tokens && !(budget.dollars && priced))
    budget.tokens = kDefaultTokens;
}

Result<RunSettings> settings_of(const RunPlan& plan, const Task& task) {
  RunSettings settings = plan.settings;
  KERNEVO_CHECK(check_budget(settings.budget));
  KERNEVO_CHECK(
      check_positive({{"--target-us", plan.target_us}, {"--roofline", settings.roofline}}));
  KERNEVO_CHECK(settle_proposers(settings));
  const bool has_agent = std::find(settings.proposers.begin(), settings.proposers.end(), "agent") !=
                         settings.proposers.end();
  if (plan.driver == Driver::loop && has_agent)
    return wrong("an agent drives a run itself", "use 'kernevo ask TASK' and 'kernevo tell'");
  if (plan.driver == Driver::loop)
    limit_loop(settings.budget, task);
  else if (!has_limit(settings.budget))
    settings.budget.rounds = kDefaultRounds;
  if (settings.inputs == 0)
    settings.inputs = fresh_secret(); // the journal keeps it
  if (plan.driver == Driver::agent)
    settings.ahead = 1; // what is asked rests on everything told
  limit_tokens(settings.budget, settings.llm.models);
  const std::optional<double> target = plan.target_us ? plan.target_us : task.target_us;
  if (target)
    settings.target_ns = *target * 1e3;
  return settings;
}

} // namespace

Result<SettledPlan> settle(const RunPlan& plan) {
  KERNEVO_TRY(context, evolve::make_run_context(plan.task_file, plan.device));
  KERNEVO_TRY(settings, settings_of(plan, context.task));
  KERNEVO_CHECK(check_cache(*context.device, settings.hot_cache));
  context.time_with(settings.hot_cache);
  KERNEVO_CHECK(check_name(plan.name));
  return SettledPlan{plan, std::move(context), std::move(settings)};
}

Result<SearchKind> read_search(const std::string& name) {
  if (const auto kind = search_kind(name))
    return *kind;
  return wrong(fmt::format("there is no search '{}'{}", name,
                           did_you_mean(name, {"evolve", "best-of-n", "sequential"})),
               "use evolve, best-of-n or sequential");
}

Result<void> check_budget(const RunBudget& budget) {
  const auto count = [](const std::optional<std::uint64_t>& value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  return check_positive({{"--evaluations", count(budget.evaluations)},
                         {"--rounds", count(budget.rounds)},
                         {"--seconds", budget.seconds},
                         {"--tokens", count(budget.tokens)},
                         {"--dollars", budget.dollars}});
}

RunBudget extended(RunBudget budget, const RunBudget& asked) {
  const auto replace = [](auto& had, const auto& wanted) {
    if (wanted)
      had = wanted;
  };
  replace(budget.evaluations, asked.evaluations);
  replace(budget.rounds, asked.rounds);
  replace(budget.seconds, asked.seconds);
  replace(budget.tokens, asked.tokens);
  replace(budget.dollars, asked.dollars);
  return budget;
}

} // namespace kernevo::run
