#include "kernevo/evolve/stops.h"

#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr std::uint64_t kTroubles = 3; // in a row: the machine will not get better by itself
constexpr std::uint32_t kRestarts = 3; // more have never helped anybody

std::optional<RunStopped> spent(const RunState& state) {
  const RunBudget& budget = state.started.settings.budget;
  if (budget.rounds && state.told >= *budget.rounds)
    return RunStopped{StopReason::rounds, fmt::format("all {} rounds are done", *budget.rounds)};
  if (budget.evaluations && state.evaluations >= *budget.evaluations)
    return RunStopped{StopReason::evaluations,
                      fmt::format("all {} evaluations are spent", *budget.evaluations)};
  if (budget.tokens && state.tokens >= *budget.tokens)
    return RunStopped{StopReason::tokens, fmt::format("all {} tokens are spent", *budget.tokens)};
  if (budget.dollars && state.dollars_known >= *budget.dollars)
    return RunStopped{StopReason::dollars,
                      fmt::format("all {:.2f} dollars are spent", *budget.dollars)};
  return std::nullopt;
}

// The operations of a reference are no limit: another algorithm may do with fewer.
std::optional<double> roofline_reached(const RunState& state, const Member& best) {
  if (const auto& estimate = state.started.estimate)
    return estimate->moving_ns / best.objective.value;
  return best.roofline;
}

} // namespace

std::optional<RunStopped> find_stop(const RunState& state) {
  const RunSettings& settings = state.started.settings;
  const Member* best = state.best();
  if (best == nullptr)
    return std::nullopt;
  const char* who = state.speedup() > 1 ? "the best" : "the baseline itself";
  if (settings.target_ns && best->objective.value <= *settings.target_ns)
    return RunStopped{StopReason::target,
                      fmt::format("{} takes {:.3g} us, the target is {:.3g} us", who,
                                  best->objective.value / 1e3, *settings.target_ns / 1e3)};
  if (const auto reached = roofline_reached(state, *best); reached && *reached >= settings.roofline)
    return RunStopped{StopReason::roofline,
                      fmt::format("{} reaches {:.1f} % of what the roofline allows{}{}", who,
                                  100 * *reached, state.started.estimate ? ", " : "",
                                  state.started.estimate ? kFromReference : "")};
  if (state.trouble_in_a_row >= kTroubles)
    return RunStopped{StopReason::trouble,
                      fmt::format("{} steps in a row met trouble of the machine", kTroubles)};
  if (auto stop = spent(state))
    return stop;
  if (settings.plateau > 0 && state.since_gain >= settings.plateau)
    return RunStopped{StopReason::plateau,
                      fmt::format("no gain in the last {} steps", state.since_gain)};
  return std::nullopt;
}

RunStopped stopped_by_user() {
  return {StopReason::interrupted, "stopped by the user; --resume goes on"};
}

RunStopped stopped_by_clock(double seconds) {
  return {StopReason::seconds, fmt::format("{:.0f} seconds are over", seconds)};
}

RunStopped stopped_by_refusal(const RunState& state, const std::optional<StopReason>& cap,
                              const Error& error) {
  const RunBudget& budget = state.started.settings.budget;
  if (cap == StopReason::tokens && budget.tokens)
    return {*cap, fmt::format("{} of {} tokens are spent, and the rest is too little for a call",
                              state.tokens, *budget.tokens)};
  if (cap == StopReason::dollars && budget.dollars)
    return {*cap, state.dollars
                      ? fmt::format("{:.4f} of {:.4f} dollars are spent, and the rest is too "
                                    "little for a call",
                                    state.dollars_known, *budget.dollars)
                      : "what a call costs is not known, so a cap in dollars cannot be held; "
                        "give --price, or cap --tokens"};
  return {StopReason::unavailable, format_error(error) + "; --resume goes on"};
}

bool met_by_baseline(const RunState& state) {
  return state.stopped && state.speedup() <= 1 &&
         (state.stopped->reason == StopReason::target ||
          state.stopped->reason == StopReason::roofline);
}

std::optional<Restarted> find_restart(const RunState& state) {
  const RunSettings& settings = state.started.settings;
  if (settings.search != SearchKind::evolve || state.epoch >= kRestarts ||
      state.speedup() >= settings.poor_speedup)
    return std::nullopt;
  struct Spent {
    const char* what;
    std::uint64_t here;
    std::uint64_t enough; // 0: never
  };
  for (const Spent& spent :
       {Spent{"evaluations", state.evaluations - state.epoch_evaluations, settings.restart_after},
        Spent{"tokens", state.tokens - state.epoch_tokens, settings.restart_after_tokens}})
    if (spent.enough > 0 && spent.here >= spent.enough)
      return Restarted{
          state.next_step,
          state.epoch + 1,
          fmt::format("{} {} brought {:.2f} times the reference's speed; starting afresh",
                      spent.here, spent.what, state.speedup()),
          {{"speedup", state.speedup(), settings.poor_speedup},
           {fmt::format("{}_since_start", spent.what), static_cast<double>(spent.here),
            static_cast<double>(spent.enough)}}};
  return std::nullopt;
}

} // namespace kernevo::evolve
