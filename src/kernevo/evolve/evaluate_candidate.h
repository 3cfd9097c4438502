// One candidate up the ladder: parse, compile, known already? small shapes, parameters tuned,
// profile, hidden and real shapes if it would be the best. Everything found out is remembered, so
// that asking again costs nothing.
#pragma once

#include "kernevo/evolve/instance_objective.h"
#include "kernevo/evolve/run_context.h"
#include "kernevo/model/search_records.h"
#include "kernevo/store/memo.h"

#include <functional>

namespace kernevo::evolve {

struct EvaluationRequest {
  Step step = 0;
  Step candidate = 0;
  std::string source;
  std::size_t evaluations = 1;          // instances that may be timed
  std::size_t already = 0;              // instances timed in earlier steps of the same candidate
  std::optional<Nanoseconds> incumbent; // the best when this was decided
  std::optional<Rival> rival;           // the same, where times are measured
  double least_gain = 0;
  double patience_minutes = 5; // CheckOptions, of what would be the best
  std::uint64_t seed = 0;      // of the search for parameters
  std::uint64_t inputs = 0;    // seed of what the kernel is run on
  bool tune_only = false;      // the candidate is known; only its parameters are searched further
  // The step that has this structure already, if any.
  std::function<Result<std::optional<Step>>(const std::string& identity)> known;
  std::function<bool()> interrupted;
};

struct EvaluationResult {
  // The outcome is `improved` when it beats the request's incumbent and was confirmed; whether it
  // still does when it is told is for the caller to say.
  Evaluation evaluation;
  std::string profile; // JSON of the Bottleneck whose hash the evaluation has; empty when none
  // Of a fault: what whoever repairs it may know.
  std::optional<Diagnosis> diagnosis;
};

// A would-be best against the best as it is by now, on a device that measures: the evaluation with
// its times beside that one's. Its outcome is `improved` only if it was shown to be faster twice.
Result<Evaluation> contest_again(const RunContext& context, store::Memo& memo,
                                 const EvaluationRequest& request, Evaluation evaluation);

// Nothing when it was interrupted. Errors are trouble of the machine.
Result<std::optional<EvaluationResult>>
evaluate_candidate(const RunContext& context, store::Memo& memo, const EvaluationRequest& request);

} // namespace kernevo::evolve
