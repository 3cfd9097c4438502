// The journal of a run: everything that happened, in order. The run is the fold of its events.
#pragma once

#include "kernevo/model/llm_settings.h"
#include "kernevo/model/model_call.h"
#include "kernevo/model/search_records.h"
#include "kernevo/model/work_estimate.h"

#include <variant>

namespace kernevo {

enum class SearchKind {
  evolve,
  best_of_n,  // control: independent proposals from the reference, no feedback
  sequential, // control: always refine the best along its first finding, no archive, no bandit
};
std::string_view name_of(SearchKind value);
std::optional<SearchKind> search_kind(std::string_view name);

struct RunBudget {
  std::optional<std::uint64_t> rounds;      // steps after the baseline
  std::optional<std::uint64_t> evaluations; // instances timed
  std::optional<double> seconds;
  std::optional<std::uint64_t> tokens;
  std::optional<double> dollars;

  bool operator==(const RunBudget&) const = default;
};

// Everything a run's decisions depend on beside what was measured.
struct RunSettings {
  std::vector<std::string> proposers = {"playbook"};
  SearchKind search = SearchKind::evolve;
  std::uint64_t seed = 0;   // of every choice
  std::uint64_t inputs = 0; // secret: of it follow the inputs and shapes kernels are judged on
  std::size_t ahead = 3;    // steps under way when the next one is decided
  std::uint32_t islands = 1;
  std::uint64_t migration = 10; // steps between migrations
  RunBudget budget;
  std::optional<double> target_ns;
  double roofline = 0.95;        // enough of it
  std::uint64_t plateau = 16;    // steps without a gain after which the run ends
  std::size_t first_tuning = 10; // instances a new structure is granted
  double guard = 0.05;           // no shape may be slower than the reference by more
  double least_gain = 0.01;      // what counts as faster
  bool hot_cache = false;        // kernels are timed so, where that can be
  double patience_minutes = 5;   // for whole runs of a real shape, of what would be the best
  // A poor start: after so many evaluations not faster than the reference by so much. 0 = never.
  std::uint64_t restart_after = 60;
  std::uint64_t restart_after_tokens = 100'000; // the same in tokens
  double poor_speedup = 1.1;
  LlmSettings llm;
  std::string command; // of the proposer "command"
  double command_seconds = 600;

  bool operator==(const RunSettings&) const = default;
};

struct RunStarted {
  std::string run;       // its name
  std::string task_file; // as given
  std::string task;      // hash of the task file's text
  std::string task_name;
  std::string operation;
  std::string gpu;
  std::string device;  // "virtual:A100"; empty in older runs, which were all virtual
  std::string method;  // as name_of(TimingMethod) has it
  std::string program; // version of kernevo
  std::string context; // identity of all a result depends on: task, device, tables, compiler
  RunSettings settings;
  std::optional<WorkEstimate> estimate; // of a task that does not say its work
  // "NVIDIA A100-SXM4-40GB, driver 13.0", and what plays it; empty of a virtual GPU.
  std::string hardware = {};

  bool operator==(const RunStarted&) const = default;
};
bool is_modelled(const RunStarted& started); // its times are, on a virtual GPU

struct Restarted {
  Step step = 0; // decided before this step
  std::uint32_t epoch = 0;
  std::string reason;
  std::vector<Reason> reasons;

  bool operator==(const Restarted&) const = default;
};

// The best of each island went to the next one.
struct Migrated {
  Step step = 0;

  bool operator==(const Migrated&) const = default;
};

enum class StopReason {
  target,
  roofline,
  rounds,
  evaluations,
  seconds,
  tokens,
  dollars,
  plateau,
  exhausted, // no proposer has anything left to try
  interrupted,
  trouble,     // of the machine, again and again
  unavailable, // a service the run needs refuses: out of credit, a wrong key, gone
};
std::string_view name_of(StopReason value);

struct RunStopped {
  StopReason reason = StopReason::interrupted;
  std::string text; // one sentence

  bool operator==(const RunStopped&) const = default;
};

struct RunResumed {
  Step step = 0;    // the next one
  RunBudget budget; // from now on

  bool operator==(const RunResumed&) const = default;
};

using RunEvent = std::variant<RunStarted, Directive, Candidate, Evaluation, Restarted, Migrated,
                              RunStopped, RunResumed, Attempt, ModelCall>;

// "run_started", "directive", ...
std::string_view kind_of(const RunEvent& event);
// The step it belongs to; 0 for the run's own.
Step step_of(const RunEvent& event);

std::string to_json(const RunEvent& event);
Result<RunEvent> event_from_json(std::string_view kind, std::string_view text);

} // namespace kernevo
