// A run as the fold of its events: all that decisions are made from. Its size does not grow with
// the number of events, so that a long run stays fast; what lists and look-ups need is in the
// journal.
#pragma once

#include "kernevo/evolve/lessons.h"
#include "kernevo/model/run_event.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernevo::evolve {

// A candidate that may be a parent: the reference, the best, the elite of a cell.
struct Member {
  Candidate candidate;
  Nanoseconds objective;
  std::map<std::string, std::int64_t> parameters;
  std::vector<BottleneckFinding> findings;
  std::string profile; // hash of what they are from
  std::optional<double> roofline;
  std::string cell;
  std::uint32_t island = 0;
  std::uint32_t epoch = 0;
  std::size_t tuned = 0; // instances timed so far
  bool tunable = false;
  bool exhausted = false;   // all its parameters were tried
  bool tuning_helps = true; // the last search of its parameters found something better

  bool operator==(const Member&) const = default;
};

// What following a direction by a proposer has brought.
struct Arm {
  std::uint64_t tries = 0;
  double reward = 0; // sum; each from 0 to 1

  bool operator==(const Arm&) const = default;
};

// What a proposer brought, and which share of the budget its steps took: the larger of what they
// took of the evaluations, the tokens and the dollars.
struct ProposerRecord {
  std::uint64_t steps = 0;
  double reward = 0;
  double cost = 0;

  bool operator==(const ProposerRecord&) const = default;
};

// The books: of a stage, of a model.
struct Spending {
  std::uint64_t calls = 0;
  TokenUsage usage;
  std::optional<double> dollars = 0; // absent once a cost was not known
  double seconds = 0;

  void add(const ModelCall& call);
  bool operator==(const Spending&) const = default;
};

using ArmKey = std::pair<std::string, std::string>; // proposer, direction

struct BestPoint {
  Step step = 0;
  Step candidate = 0;
  std::uint64_t evaluations = 0; // spent when it was found
  Nanoseconds objective;
  std::string tag; // its worst bottleneck

  bool operator==(const BestPoint&) const = default;
};

struct RunState {
  RunStarted started;
  Step next_step = 0;                                             // the next to be decided
  std::map<Step, Directive> pending;                              // decided, not told
  std::map<Step, Candidate> pending_candidates;                   // proposed, not told
  std::map<Step, std::vector<Attempt>> pending_attempts;          // not right, not told
  std::map<Step, std::map<std::string, ModelCall>> pending_calls; // accounted for, not told

  std::optional<Nanoseconds> baseline;
  std::vector<ShapeTime> baseline_shapes;
  std::optional<Step> incumbent; // a candidate
  std::map<Step, Member> members;
  std::map<std::pair<std::uint32_t, std::string>, Step> elites; // (island, cell) -> candidate

  std::map<ArmKey, Arm> arms;
  std::uint64_t lessons_told = 0;                  // tries of all arms
  std::map<std::string, ProposerRecord> proposers; // by name
  // What need not be tried again from this parent by this proposer, until that step.
  std::map<std::pair<Step, std::string>, Step> tabu;
  std::set<std::string> tags_acted_on; // bottlenecks of a best that were met with a directive
  GeneLessons genes;

  std::uint64_t told = 0; // steps after the baseline
  std::uint64_t evaluations = 0;
  std::uint64_t tokens = 0;
  std::optional<double> dollars = 0; // absent once a cost was not known
  double dollars_known = 0;          // of the calls whose cost was known: what a cap counts
  std::map<std::string, Spending> by_stage;
  std::map<std::string, Spending> by_model;
  std::vector<PastStep> recent;                       // the last few, oldest first
  std::vector<std::string> lessons;                   // of proposers, the last few
  std::uint64_t repaired = 0;                         // steps that were right after a repair
  std::map<std::string, std::uint64_t> faults_mended; // by kind
  std::uint64_t since_gain = 0;                       // steps told since the last gain
  std::uint64_t trouble_in_a_row = 0;
  std::map<std::string, std::uint64_t> outcomes;
  std::vector<BestPoint> bests;

  std::uint32_t epoch = 0;
  Step epoch_step = 1;                 // its first
  std::uint64_t epoch_evaluations = 0; // spent before it
  std::uint64_t epoch_proposals = 0;   // directives that asked for a kernel in it
  std::uint64_t epoch_tokens = 0;      // spent before it
  Step last_migration = 0;
  std::optional<RunStopped> stopped;

  void apply(const RunEvent& event);

  std::uint64_t reserved() const; // evaluations granted to steps under way
  // Null when there is none yet.
  const Member* best() const;
  const Member* find(Step candidate) const;
  double speedup() const; // of the best over the reference; 1 before there is one
  // `name` as tabu_name makes it.
  bool is_tabu(Step parent, const std::string& name) const;

  bool operator==(const RunState&) const = default;
};

// Under which name a failed try is tabu for its parent: proposer and direction, and of a
// recombination the mate as well. What one proposer failed at another may do well.
std::string tabu_name(const Directive& directive);
std::string tabu_name(const std::string& proposer, const std::string& direction);

// What a result means in the run as it stands: whether it is still the best, whether it is known,
// and whether every shape is as fast as it must be.
Evaluation settle(const RunState& state, Evaluation evaluation,
                  const std::optional<Step>& same_identity);

std::string to_json(const RunState& state);
Result<RunState> run_state_from_json(std::string_view text);

} // namespace kernevo::evolve
