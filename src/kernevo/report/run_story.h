// All a journal tells of a run, step by step, in one pass over it.
#pragma once

#include "kernevo/evolve/run_state.h"
#include "kernevo/store/journal.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernevo::report {

struct StoryStep {
  Directive directive;
  std::optional<Candidate> candidate; // absent when none was proposed, and for tuning
  std::vector<Attempt> attempts;      // that were not right, before the candidate
  std::vector<ModelCall> calls;
  std::optional<Evaluation> evaluation; // absent while it is under way
  std::optional<double> seconds;        // what evaluating it took
  std::uint64_t spent = 0;              // evaluations of the run once it was told
};

struct RunStory {
  evolve::RunState state;       // at the end
  std::vector<StoryStep> steps; // in order
  std::vector<Step> bests;      // steps that gave a new best, the baseline first
  std::vector<Restarted> restarts;
  std::uint64_t attempts = 0;    // kernels that were not right and were mended, or given up
  std::int64_t began = 0;        // milliseconds since 1970
  std::int64_t last = 0;         // of the last event
  double seconds = 0;            // the run was going, without pauses before a resume
  double evaluation_seconds = 0; // of all steps, as if one after the other

  // Null for a step that is not there.
  const StoryStep* find(Step step) const;
  // What a candidate stood for once the steps before `before` were told: its fastest evaluation
  // that was right. Null when there is none.
  const Evaluation* known(Step candidate, Step before) const;

  std::map<Step, std::vector<Step>> measured; // candidate -> steps that found it right
};

Result<RunStory> read_story(store::Journal& journal);

} // namespace kernevo::report
