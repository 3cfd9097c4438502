#include "kernevo/cli/agent_answer.h"

#include <fmt/format.h>

namespace kernevo::cli {
namespace {

template <class T> Json used_of(T used, const std::optional<T>& limit) {
  Json json{{"used", used}};
  put_optional(json, "of", limit);
  return json;
}

} // namespace

Json best_json(const evolve::RunState& state) {
  const evolve::Member* best = state.best();
  if (best == nullptr)
    return nullptr;
  Json json{{"step", best->candidate.step},
            {"title", best->candidate.title},
            {"time_us", best->objective.value / 1e3},
            {"method", state.started.method},
            {"speedup", state.speedup()},
            {"parameters", best->parameters}};
  put_optional(json, "roofline", best->roofline);
  if (best->roofline)
    json["roofline_estimated"] = state.started.estimate.has_value();
  return json;
}

Json budget_json(const evolve::RunState& state, double seconds) {
  const RunBudget& budget = state.started.settings.budget;
  return {{"rounds", used_of(state.told, budget.rounds)},
          {"evaluations", used_of(state.evaluations, budget.evaluations)},
          {"seconds", used_of(seconds, budget.seconds)}};
}

std::string budget_line(const evolve::RunState& state) {
  const RunBudget& budget = state.started.settings.budget;
  const auto part = [](std::uint64_t used, const std::optional<std::uint64_t>& limit) {
    return limit ? fmt::format("{} of {}", used, *limit) : std::to_string(used);
  };
  return fmt::format("{} rounds, {} evaluations", part(state.told, budget.rounds),
                     part(state.evaluations, budget.evaluations));
}

} // namespace kernevo::cli
