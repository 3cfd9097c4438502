// Decides what to try next, from the fold of the run alone: stops and restarts first, then gates in
// a fixed order, then a bandit over proposers and directions. Every decision names the part that
// made it and the figures it rests on.
#pragma once

#include "kernevo/evolve/run_state.h"

#include <functional>
#include <variant>

namespace kernevo::evolve {

// What a proposer could do from a parent.
struct OpenArm {
  std::string proposer;
  std::string direction;
  std::optional<std::size_t> moves; // kernels it has left; absent: knows no end
  double weight = 1;                // how much the proposer is favoured before anything is known

  bool operator==(const OpenArm&) const = default;
};

// What the navigator asks of the world; the answers must depend on the run's events alone.
struct NavigatorView {
  std::function<Result<std::vector<OpenArm>>(const Member& parent)> open_arms;
  // The proposer that can join the two; empty when none can.
  std::function<Result<std::string>(const Member& parent, const Member& mate)> recombiner;
};

// Nothing new is to be decided until more is told.
struct Wait {
  bool operator==(const Wait&) const = default;
};

using Decision = std::variant<Directive, RunStopped, Restarted, Migrated, Wait>;

// Deterministic. The run has its baseline.
Result<Decision> decide(const RunState& state, const NavigatorView& view);

// The gates of the evolving search, in the order in which they are asked.
std::vector<std::string_view> gate_names();

} // namespace kernevo::evolve
