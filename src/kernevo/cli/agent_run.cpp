#include "kernevo/cli/agent_run.h"

#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace kernevo::cli {
namespace {

template <class T> Json used_of(T used, const std::optional<T>& limit) {
  Json json{{"used", used}};
  put_optional(json, "of", limit);
  return json;
}

} // namespace

Result<double> seconds_since_start(store::Journal& journal) {
  std::int64_t began = 0;
  KERNEVO_CHECK(journal.read(1, [&](const store::StoredEvent& event) {
    began = event.milliseconds;
    return false;
  }));
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  return began == 0 ? 0 : std::max(0.0, static_cast<double>(now - began) / 1e3);
}

evolve::OrchestratorOptions agent_orchestration(const StopSignals& signals, double seconds_before) {
  evolve::OrchestratorOptions how;
  how.jobs = std::max(1U, std::thread::hardware_concurrency());
  how.seconds_before = seconds_before;
  how.interrupted = [&signals] { return signals.requested(); };
  return how;
}

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
