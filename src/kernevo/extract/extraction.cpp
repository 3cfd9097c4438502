#include "kernevo/extract/extraction.h"

#include "kernevo/base/hash.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/extract/conditions.h"
#include "kernevo/task/load_task.h"

#include <fmt/format.h>

namespace kernevo::extract {
namespace {

class Reader {
public:
  Reader(store::Journal& journal, Audience audience) : journal_(journal), audience_(audience) {}

  Result<Extraction> read(const std::optional<Step>& wanted) {
    KERNEVO_CHECK(read_start());
    KERNEVO_TRY(step, wanted ? Result<Step>(*wanted) : best_step());
    result_.best = !wanted;
    KERNEVO_CHECK(read_evaluation(step));
    KERNEVO_TRY(directive, journal_.directive(step));
    if (directive)
      result_.directive = std::move(*directive);
    KERNEVO_TRY(candidate, candidate_of(result_.evaluation.candidate));
    result_.candidate = std::move(candidate);
    KERNEVO_TRY(source, journal_.blob(result_.candidate.source));
    KERNEVO_TRY(file, parse_kernel_file(source, fmt::format("step-{}.cu", result_.candidate.step)));
    result_.file = std::move(file);
    KERNEVO_CHECK(read_lineage());
    KERNEVO_TRY(conditions, conditions_of(journal_, result_.evaluation));
    result_.conditions = std::move(conditions);
    KERNEVO_CHECK(redact());
    return std::move(result_);
  }

private:
  std::string run() const { return journal_.location(); }

  Result<void> read_start() {
    KERNEVO_CHECK(journal_.read(1, [&](const store::StoredEvent& stored) {
      if (const auto* started = std::get_if<RunStarted>(&stored.event))
        result_.started = *started;
      return false;
    }));
    if (!result_.started.run.empty()) {
      KERNEVO_TRY(text, journal_.blob(result_.started.task));
      result_.task_text = std::move(text);
      KERNEVO_TRY(baseline, journal_.evaluation(0));
      KERNEVO_TRY(reference, journal_.candidate(0));
      if (baseline && baseline->objective && reference) {
        result_.baseline = std::move(*baseline);
        KERNEVO_TRY(source, journal_.blob(reference->source));
        result_.reference = std::move(source);
        KERNEVO_TRY(loaded,
                    parse_task(result_.task_text, result_.started.task_file, &result_.reference));
        result_.task = std::move(loaded.task);
        return {};
      }
    }
    return fail(ErrorCode::input, "the run has no baseline yet", Place{run()},
                "wait for it, or go on with 'kernevo evolve --resume'");
  }

  // The last one that was confirmed. Further tuning may have found parameters a hair faster, but
  // those were not judged on the hidden shapes.
  Result<Step> best_step() {
    KERNEVO_TRY(state, evolve::fold_journal(journal_));
    return state.bests.empty() ? Step{0} : state.bests.back().step;
  }

  // With the hash of the whole text a guess at what is missing could be verified.
  Result<void> redact() {
    KERNEVO_TRY(text, visible_task_text(result_.task_text, result_.started.task_file, audience_));
    if (text == result_.task_text)
      return {};
    result_.started.task = sha256_hex(text);
    result_.task_text = std::move(text);
    result_.task = visible(std::move(result_.task), audience_);
    return {};
  }

  Result<void> no_such_step(Step step) {
    KERNEVO_TRY(state, evolve::fold_journal(journal_));
    const Step last = state.next_step == 0 ? 0 : state.next_step - 1;
    return fail(ErrorCode::usage,
                fmt::format("there is no step {}: the run has {} step{} after the reference", step,
                            last, last == 1 ? "" : "s"),
                Place{run()}, fmt::format("give --iteration a number from 0 to {}", last));
  }

  Result<void> read_evaluation(Step step) {
    KERNEVO_TRY(row, journal_.step(step));
    if (!row)
      return no_such_step(step);
    KERNEVO_TRY(stored, journal_.evaluation(step));
    if (!stored)
      return fail(ErrorCode::usage, fmt::format("step {} is not evaluated yet", step), Place{run()},
                  "wait for it, or go on with 'kernevo evolve --resume'");
    std::optional<Evaluation> evaluation = visible(std::move(*stored), audience_);
    if (is_right(evaluation->outcome) && evaluation->objective) {
      result_.evaluation = std::move(*evaluation);
      return {};
    }
    if (evaluation->outcome == StepOutcome::duplicate && evaluation->duplicate_of)
      return fail(ErrorCode::usage, fmt::format("step {} {}", step, evaluation->summary),
                  Place{run()},
                  fmt::format("extract that one: --iteration {}", *evaluation->duplicate_of));
    if (evaluation->outcome == StepOutcome::no_proposal)
      return fail(ErrorCode::usage, fmt::format("step {} proposed nothing", step), Place{run()},
                  "extract --best, or another step");
    return fail(ErrorCode::usage,
                fmt::format("step {} is not a correct kernel ({}{}{})", step,
                            name_of(evaluation->outcome), evaluation->summary.empty() ? "" : ": ",
                            evaluation->summary),
                Place{run()}, "extract --best, or another step");
  }

  Result<Candidate> candidate_of(Step step) {
    KERNEVO_TRY(candidate, journal_.candidate(step));
    if (!candidate)
      return fail(ErrorCode::input, fmt::format("the candidate of step {} is missing", step),
                  Place{run()}, fmt::format("'kernevo runs --repair {}'", run()));
    return std::move(*candidate);
  }

  Result<void> read_lineage() {
    Candidate at = result_.candidate;
    while (true) {
      KERNEVO_TRY(evaluation, journal_.evaluation(at.step));
      result_.lineage.push_back({at, evaluation ? evaluation->objective : std::nullopt});
      // A parent is older; anything else would be a damaged journal, not a longer way.
      if (at.parents.empty() || at.parents.front() >= at.step)
        return {};
      KERNEVO_TRY(parent, candidate_of(at.parents.front()));
      at = std::move(parent);
    }
  }

  store::Journal& journal_;
  Audience audience_;
  Extraction result_;
};

} // namespace

Result<Extraction> read_extraction(store::Journal& journal, const std::optional<Step>& step,
                                   Audience audience) {
  return Reader(journal, audience).read(step);
}

} // namespace kernevo::extract
