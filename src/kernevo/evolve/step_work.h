// What a thread does for one step: ask the proposer, take its kernel up the ladder, have it mended
// while it is not right, and learn from it when it is.
#pragma once

#include "kernevo/evolve/evaluate_candidate.h"
#include "kernevo/propose/proposer.h"

#include <semaphore>

namespace kernevo::evolve {

struct StepResult {
  std::optional<Candidate> candidate; // of a proposer that was asked here
  std::string source;                 // of that candidate
  std::vector<Attempt> attempts;      // that were not right, before the last one
  std::vector<std::string> attempt_sources;
  EvaluationResult evaluated;
  double seconds = 0;
  std::optional<Error> trouble; // of the machine, when that is the outcome
  std::optional<Error> halt; // nothing came of it, and going on makes no sense: the step stays open
};

// What stays the same for all steps of a run.
struct StepServices {
  const RunContext& context;
  store::Memo& memo;
  std::counting_semaphore<>& slots; // of evaluations; waiting for a model takes none
};

// Nothing when it was interrupted. `proposer` is null when the source is known.
std::optional<StepResult> work_on_step(const StepServices& services, EvaluationRequest request,
                                       propose::Proposer* proposer,
                                       const propose::ProposalRequest& asked);

// Whether somebody who reads the diagnosis might mend it.
bool can_be_mended(const EvaluationResult& evaluated);

Candidate candidate_of(const Directive& directive, const propose::Proposal& proposal);
Attempt attempt_of(Step step, std::uint32_t ordinal, const propose::Proposal& proposal,
                   const Diagnosis& diagnosis, std::size_t instances_timed);
StepResult nothing_proposed(Step step, std::string why = "the proposer has nothing for this");
// Of the machine: an outcome that is told and teaches nothing.
StepResult trouble(Step step, const Error& error);

} // namespace kernevo::evolve
