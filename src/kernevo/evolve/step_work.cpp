#include "kernevo/evolve/step_work.h"

#include "kernevo/base/hash.h"
#include "kernevo/base/one_line.h"
#include "kernevo/base/printable.h"
#include "kernevo/evaluate/visible.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr std::size_t kLongestTitle = 400;

using Clock = std::chrono::steady_clock;

Result<std::optional<EvaluationResult>> evaluate_in_turn(const StepServices& services,
                                                         const EvaluationRequest& request) {
  struct Turn {
    explicit Turn(std::counting_semaphore<>& slots) : slots_(slots) { slots_.acquire(); }
    ~Turn() { slots_.release(); }
    std::counting_semaphore<>& slots_;
  };
  const Turn turn(services.slots);
  return evaluate_candidate(services.context, services.memo, request);
}

class StepWork {
public:
  StepWork(const StepServices& services, EvaluationRequest request, propose::Proposer& proposer,
           const propose::ProposalRequest& asked)
      : services_(services), request_(std::move(request)), proposer_(proposer), asked_(asked),
        result_(nothing_proposed(request_.step)) {}

  std::optional<StepResult> run() {
    auto first = proposer_.propose(asked_);
    if (!first)
      return interrupted() ? std::nullopt : std::optional(failed(first.error()));
    if (!*first)
      return std::move(result_);
    propose::Proposal proposal = std::move(**first);
    const std::size_t granted = request_.evaluations;
    for (std::uint32_t ordinal = 0;; ++ordinal) {
      // What was timed of a kernel that turned out wrong is spent; one is left for each repair.
      request_.evaluations = std::max<std::size_t>(1, granted - std::min(granted, spent_));
      const auto diagnosis = evaluate(proposal);
      if (ended_)
        return std::move(ended_with_);
      if (!diagnosis || ordinal >= proposer_.repairs())
        break;
      auto mended = proposer_.repair(asked_, {proposal.source, *diagnosis, ordinal});
      // What is wrong with the candidate stands, whatever became of the repair.
      if (!mended && interrupted())
        return std::nullopt;
      if (!mended && mended.error().code == ErrorCode::unavailable)
        return failed(mended.error());
      if (!mended || !*mended)
        break;
      keep_attempt(ordinal, proposal, *diagnosis);
      // A repair speaks of the fault; what the kernel does was said before.
      if (!proposal.title.empty())
        (*mended)->title = proposal.title;
      proposal = std::move(**mended);
    }
    return finish(proposal);
  }

private:
  bool interrupted() const { return request_.interrupted && request_.interrupted(); }

  // What is wrong with it and might be mended; nothing when there is no such thing.
  std::optional<Diagnosis> evaluate(const propose::Proposal& proposal) {
    if (proposal.rejected) {
      result_.evaluated = nothing_proposed(request_.step, proposal.rejected->summary).evaluated;
      return proposal.rejected;
    }
    request_.source = proposal.source;
    auto evaluated = evaluate_in_turn(services_, request_);
    if (!evaluated) {
      ended_ = true;
      if (!interrupted())
        ended_with_ = failed(evaluated.error());
      return std::nullopt;
    }
    if (!*evaluated) {
      ended_ = true;
      return std::nullopt;
    }
    result_.evaluated = std::move(**evaluated);
    return can_be_mended(result_.evaluated) ? result_.evaluated.diagnosis : std::nullopt;
  }

  void keep_attempt(std::uint32_t ordinal, const propose::Proposal& proposal,
                    const Diagnosis& diagnosis) {
    spent_ += result_.evaluated.evaluation.instances_timed;
    result_.attempts.push_back(attempt_of(request_.step, ordinal, proposal, diagnosis,
                                          result_.evaluated.evaluation.instances_timed));
    result_.attempt_sources.push_back(proposal.source);
  }

  StepResult finish(const propose::Proposal& proposal) {
    result_.evaluated.evaluation.instances_timed += spent_;
    if (proposal.rejected)
      return std::move(result_);
    result_.candidate = candidate_of(asked_.directive, proposal);
    result_.source = proposal.source;
    // A lesson that did not come is no loss.
    if (is_right(result_.evaluated.evaluation.outcome))
      if (auto lessons = proposer_.reflect(
              asked_, proposal, visible(result_.evaluated.evaluation, Audience::proposer)))
        result_.candidate->lessons = std::move(*lessons);
    return std::move(result_);
  }

  StepResult failed(const Error& error) {
    StepResult end = trouble(request_.step, error);
    if (error.code == ErrorCode::unavailable)
      end.halt = error;
    end.evaluated.evaluation.instances_timed = spent_;
    end.attempts = std::move(result_.attempts);
    end.attempt_sources = std::move(result_.attempt_sources);
    return end;
  }

  const StepServices& services_;
  EvaluationRequest request_;
  propose::Proposer& proposer_;
  const propose::ProposalRequest& asked_;
  StepResult result_;
  std::size_t spent_ = 0;
  bool ended_ = false; // by an interruption or by trouble
  std::optional<StepResult> ended_with_;
};

std::optional<StepResult> evaluate_known(const StepServices& services,
                                         const EvaluationRequest& request) {
  auto evaluated = evaluate_in_turn(services, request);
  if (!evaluated && request.interrupted && request.interrupted())
    return std::nullopt;
  if (!evaluated) {
    StepResult end = trouble(request.step, evaluated.error());
    if (evaluated.error().code == ErrorCode::unavailable)
      end.halt = evaluated.error();
    return end;
  }
  if (!*evaluated)
    return std::nullopt;
  StepResult result;
  result.evaluated = std::move(**evaluated);
  return result;
}

} // namespace

bool can_be_mended(const EvaluationResult& evaluated) {
  const StepOutcome outcome = evaluated.evaluation.outcome;
  return evaluated.diagnosis && (outcome == StepOutcome::compile_failed ||
                                 outcome == StepOutcome::wrong || outcome == StepOutcome::failed);
}

Candidate candidate_of(const Directive& directive, const propose::Proposal& proposal) {
  Candidate candidate;
  candidate.step = directive.step;
  candidate.source = sha256_hex(proposal.source);
  for (const auto& parent : {directive.parent, directive.mate})
    if (parent)
      candidate.parents.push_back(*parent);
  candidate.proposer = directive.proposer;
  candidate.title = proposal.title.empty()
                        ? fmt::format("Follows {}, by {}.", directive.direction, directive.proposer)
                        : one_line(proposal.title, kLongestTitle);
  candidate.genes = proposal.genes;
  return candidate;
}

Attempt attempt_of(Step step, std::uint32_t ordinal, const propose::Proposal& proposal,
                   const Diagnosis& diagnosis, std::size_t instances_timed) {
  return {step,
          ordinal,
          proposal.source.empty() ? std::string() : sha256_hex(proposal.source),
          one_line(proposal.title, kLongestTitle),
          diagnosis,
          instances_timed};
}

StepResult nothing_proposed(Step step, std::string why) {
  StepResult result;
  result.evaluated.evaluation.step = step;
  result.evaluated.evaluation.candidate = step;
  result.evaluated.evaluation.outcome = StepOutcome::no_proposal;
  result.evaluated.evaluation.summary = printable(why);
  return result;
}

StepResult trouble(Step step, const Error& error) {
  StepResult result = nothing_proposed(step, format_error(error));
  result.evaluated.evaluation.outcome = StepOutcome::infrastructure;
  result.trouble = error;
  return result;
}

std::optional<StepResult> work_on_step(const StepServices& services, EvaluationRequest request,
                                       propose::Proposer* proposer,
                                       const propose::ProposalRequest& asked) {
  const auto began = Clock::now();
  std::optional<StepResult> result =
      proposer == nullptr ? evaluate_known(services, request)
                          : StepWork(services, std::move(request), *proposer, asked).run();
  if (result)
    result->seconds = std::chrono::duration<double>(Clock::now() - began).count();
  return result;
}

} // namespace kernevo::evolve
