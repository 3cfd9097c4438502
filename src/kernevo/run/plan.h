// What is asked of a new run, and what it comes to with the task's word and the defaults.
#pragma once

#include "kernevo/evolve/run_context.h"
#include "kernevo/model/run_event.h"

#include <optional>
#include <string>

namespace kernevo::run {

enum class Driver {
  loop,  // steps follow one another until a stop
  agent, // kernels are written outside: every step waits for ask and tell
};

struct RunPlan {
  std::string task_file;
  DeviceChoice device;
  std::string name;   // empty: the task's
  std::string folder; // empty: the name below the runs folder
  Driver driver = Driver::loop;
  RunSettings settings;            // proposers as a user names them, "command:CMD" included
  std::optional<double> target_us; // fast enough; absent: the task's
};

// A plan that can be carried out: nothing is left open, nothing exists yet.
struct SettledPlan {
  RunPlan plan;
  evolve::RunContext context;
  RunSettings settings;
};
Result<SettledPlan> settle(const RunPlan& plan);

// "evolve", "best-of-n" or "sequential".
Result<SearchKind> read_search(const std::string& name);

// Every limit given is a number above 0.
Result<void> check_budget(const RunBudget& budget);
// What is asked for now in place of what a run had.
RunBudget extended(RunBudget budget, const RunBudget& asked);

} // namespace kernevo::run
