// What passes between the parts of an evolution: what was asked for and why (Directive), what was
// proposed (Candidate), what came of it (Evaluation).
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/units.h"
#include "kernevo/model/bottleneck.h"
#include "kernevo/model/diagnosis.h"
#include "kernevo/model/kernel_language.h"
#include "kernevo/model/timing.h"
#include "kernevo/model/verdict.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// A run is a sequence of steps. Step 0 evaluates the reference; every other one is a directive and
// what became of it. A candidate is known by the step that proposed it.
using Step = std::uint64_t;

enum class SearchMode {
  baseline,  // evaluate the reference
  exploit,   // change the best
  explore,   // change another
  recombine, // join what two did well
  tune,      // search the parameters of a candidate further
};

// A figure a decision rests on.
struct Reason {
  std::string metric; // "share.dram", "steps_without_gain", "score"
  double value = 0;
  std::optional<double> threshold; // what it was compared with

  bool operator==(const Reason&) const = default;
};

struct Directive {
  Step step = 0;
  SearchMode mode = SearchMode::baseline;
  std::optional<Step> parent; // the candidate to change or to tune
  std::optional<Step> mate;   // the other parent of a recombination
  std::string proposer;       // empty for baseline and tune
  std::string direction;      // what to try; empty for baseline, tune and recombine
  std::string rule;           // the bottleneck's tag that led to the direction; empty if none did
  std::string gate;           // the part of the navigator that decided: "bootstrap", ..., "bandit"
  std::string reason;         // one sentence
  std::vector<Reason> reasons;
  std::size_t evaluations = 0;        // at most so many instances may be timed
  std::optional<Step> incumbent;      // the best when this was decided
  std::optional<double> incumbent_ns; // its objective then
  std::uint32_t island = 0;
  Step frontier = 0;   // every step before this one was told when it was decided
  std::string profile; // hash of the parent's profile the findings are from; empty if none is cited

  bool operator==(const Directive&) const = default;
};

// What writing a candidate took; the books of a run are its model calls.
struct ProposalCost {
  std::uint64_t tokens = 0;
  std::optional<double> dollars; // unknown is absent

  bool operator==(const ProposalCost&) const = default;
};

struct Candidate {
  Step step = 0;
  std::string source; // hash of the kernel file
  std::vector<Step> parents;
  std::string proposer;           // "reference", "playbook", ...
  std::string title;              // what it does differently, one sentence
  std::vector<std::string> genes; // the moves that made it, in order: a recipe, rewrites
  ProposalCost cost;
  std::vector<std::string> lessons = {}; // what its proposer learnt from it, a sentence each
  KernelLanguage language = KernelLanguage::cuda;

  bool operator==(const Candidate&) const = default;
};

// A proposal of a step that was not right and was mended, or was the last that could be mended.
struct Attempt {
  Step step = 0;
  std::uint32_t ordinal = 0; // 0: the proposal itself
  std::string source;        // hash of the kernel file; empty when the reply held none
  std::string title;
  Diagnosis diagnosis;
  std::size_t instances_timed = 0;

  bool operator==(const Attempt&) const = default;
};

enum class StepOutcome {
  baseline,
  improved,       // a new best, confirmed on hidden shapes
  not_better,     // right, and not faster than the best
  guarded,        // faster by the objective, but some shape is slower than it may be
  duplicate,      // compiles to a kernel that is known
  compile_failed, // faults of syntax and interface teach nothing about the direction
  wrong,
  failed,         // ran into a fault
  quarantined,    // faster than the roofline allows: a bug or a cheat
  unproven,       // would be the best, but a real shape could be neither run whole nor bounded
  no_proposal,    // the proposer had nothing
  infrastructure, // trouble of the machine; teaches nothing
};

// What a kernel is made of, as far as the machine shows it. The archive's cells are made of these.
struct KernelFacts {
  int launches = 0;
  std::string memory;       // "global", "shared", "async": the best way data comes to the threads;
                            // "unknown" of code that is not understood
  int vector_bytes = 0;     // widest access to global memory
  bool tensor = false;      // uses tensor cores
  int registers = 0;        // most of any launch
  double occupancy = 0;     // of the longest launch
  std::string limiter;      // of that occupancy
  std::string cell() const; // "shared 16B fma r64 registers 1"

  bool operator==(const KernelFacts&) const = default;
};

struct Evaluation {
  Step step = 0;
  Step candidate = 0; // another than `step` when a known one was tuned
  StepOutcome outcome = StepOutcome::infrastructure;
  std::optional<FaultKind> fault;
  std::string summary; // of a fault, a duplicate, a guard: one line
  std::optional<Step> duplicate_of;
  std::string identity; // of the structure; empty when it did not compile

  // All absent unless it ran; times unless it is right, too, or in quarantine.
  std::optional<Nanoseconds> objective; // less is better
  std::vector<ShapeTime> shapes;
  std::map<std::string, std::int64_t> parameters;
  std::optional<KernelFacts> facts;
  std::optional<double> roofline;             // least possible / objective
  std::vector<BottleneckFinding> bottlenecks; // of the longest launch, most severe first
  std::string profile;                        // hash of that launch's whole Bottleneck, with trace
  std::size_t instances_timed = 0;            // in this step
  bool tunable = false;                       // it has parameters
  bool exhausted = false;                     // all valid parameters were tried
  // On a device that measures: under which key the run remembers the shots that made it the best.
  std::string contest = {};

  bool operator==(const Evaluation&) const = default;
};

// A step that was told, as far as those who write the next kernels may learn from it.
struct PastStep {
  Step step = 0;
  std::string title;
  std::string direction;
  std::string outcome;
  std::optional<double> speedup; // over the reference
  std::string fault;             // its kind; more might tell of hidden shapes

  bool operator==(const PastStep&) const = default;
};

std::string_view name_of(SearchMode value);
std::string_view name_of(StepOutcome value);

// Whether the candidate ran and gave right results.
bool is_right(StepOutcome outcome);
// Whether what came of it says something about the direction it followed.
bool is_lesson(StepOutcome outcome);

std::string to_json(const KernelFacts& facts);
Result<KernelFacts> kernel_facts_from_json(std::string_view text);
std::string to_json(const Directive& directive);
Result<Directive> directive_from_json(std::string_view text);
std::string to_json(const Candidate& candidate);
Result<Candidate> candidate_from_json(std::string_view text);
std::string to_json(const Attempt& attempt);
Result<Attempt> attempt_from_json(std::string_view text);
std::string to_json(const Evaluation& evaluation);
Result<Evaluation> evaluation_from_json(std::string_view text);

} // namespace kernevo
