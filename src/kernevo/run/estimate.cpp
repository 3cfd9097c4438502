#include "kernevo/run/estimate.h"

#include "kernevo/llm/cost.h"
#include "kernevo/run/proposers.h"

#include <algorithm>

namespace kernevo::run {
namespace {

constexpr std::uint64_t kPlanReply = 250; // tokens, as models write them
constexpr std::uint64_t kLessonReply = 150;
constexpr double kLongerKernels = 2; // a good kernel over the reference's length
constexpr double kTuningShare = 0.3; // of the evaluations that go into further tuning

// The first request of a run, with the reference as the parent.
propose::ProposalRequest first_request(const evolve::RunContext& context) {
  propose::ProposalRequest request;
  request.directive.step = 1;
  request.directive.mode = SearchMode::exploit;
  request.directive.parent = 0;
  request.directive.direction = "own_idea";
  request.parent.source = context.reference_source;
  request.parent.candidate.title = "The reference.";
  return request;
}

Result<std::vector<StageEstimate>> stages_of(const RunSettings& settings,
                                             const evolve::RunContext& context) {
  KERNEVO_TRY(writer, make_writer(context, settings.llm));
  const propose::ProposalRequest request = first_request(context);
  const auto kernel = static_cast<std::uint64_t>(
      kLongerKernels * static_cast<double>(llm::estimate_tokens(context.reference_source)));
  std::vector<StageEstimate> stages;
  const LlmSettings& llm = settings.llm;
  if (llm.plan) {
    KERNEVO_TRY(plan, writer.plan(request));
    stages.push_back({"plan", llm::estimate_prompt(plan), kPlanReply, 1, 1});
  }
  KERNEVO_TRY(code, writer.code(request, "", false));
  stages.push_back({"code", llm::estimate_prompt(code), kernel, 1, 1});
  propose::FailedAttempt failed;
  failed.source = context.reference_source;
  failed.diagnosis.summary = "a fault";
  KERNEVO_TRY(repair, writer.repair(request, failed, false));
  stages.push_back({"repair", llm::estimate_prompt(repair) + kernel / 2, kernel, 0,
                    static_cast<double>(llm.repairs)});
  const propose::Proposal proposal{context.reference_source, "", {}};
  if (llm.insights) {
    KERNEVO_TRY(insights, writer.insights(request, proposal, Evaluation{}));
    stages.push_back({"insights", llm::estimate_prompt(insights) + kernel / 2, kLessonReply, 0, 1});
  }
  if (llm.lineage) {
    KERNEVO_TRY(lineage, writer.lineage(request, proposal, Evaluation{}));
    stages.push_back({"lineage", llm::estimate_prompt(lineage) + kernel / 2, kLessonReply, 0, 1});
  }
  return stages;
}

std::uint64_t steps_of(const RunSettings& settings) {
  std::uint64_t steps = 1'000'000;
  if (settings.budget.rounds)
    steps = *settings.budget.rounds;
  if (settings.budget.evaluations)
    steps = std::min(
        steps, std::max<std::uint64_t>(
                   1, static_cast<std::uint64_t>((1 - kTuningShare) *
                                                 static_cast<double>(*settings.budget.evaluations) /
                                                 static_cast<double>(settings.first_tuning))));
  return steps;
}

CallEstimate total(const std::vector<StageEstimate>& stages, double steps, bool most) {
  CallEstimate sum;
  for (const StageEstimate& stage : stages) {
    const double calls = steps * (most ? stage.most : stage.least);
    sum.calls += calls;
    sum.prompt += calls * static_cast<double>(stage.prompt);
    sum.reply += calls * static_cast<double>(stage.reply);
  }
  return sum;
}

// A range under the cap: a run stops there.
CallEstimate capped(CallEstimate range, const RunBudget& budget) {
  const double all = range.tokens();
  if (!budget.tokens || all <= static_cast<double>(*budget.tokens) || all == 0)
    return range;
  const double share = static_cast<double>(*budget.tokens) / all;
  return {range.calls * share, range.prompt * share, range.reply * share, std::nullopt};
}

// Absent when no price is known.
std::optional<double> dollars_of(const CallEstimate& range, const RunSettings& settings,
                                 bool most) {
  std::optional<double> found;
  for (const ModelSettings& model : settings.llm.models) {
    if (!model.price)
      return std::nullopt;
    const double cost =
        (range.prompt * model.price->prompt + range.reply * model.price->completion) / 1e6;
    found = !found ? cost : most ? std::max(*found, cost) : std::min(*found, cost);
  }
  if (found && settings.budget.dollars)
    found = std::min(*found, *settings.budget.dollars);
  return found;
}

CallEstimate estimate_calls(const std::vector<StageEstimate>& stages, double steps,
                            const RunSettings& settings, bool most) {
  CallEstimate calls = capped(total(stages, steps, most), settings.budget);
  calls.dollars = dollars_of(calls, settings, most);
  return calls;
}

} // namespace

Result<RunEstimate> estimate_run(const RunSettings& settings, const evolve::RunContext& context) {
  if (settings.llm.models.empty())
    return fail(ErrorCode::usage, "--dry-run estimates what models would cost, and none is asked",
                std::nullopt, "add --proposer llm --model NAME");
  RunEstimate estimate;
  KERNEVO_TRY(stages, stages_of(settings, context));
  estimate.stages = std::move(stages);
  estimate.steps = static_cast<double>(steps_of(settings));
  estimate.least = estimate_calls(estimate.stages, estimate.steps, settings, false);
  estimate.most = estimate_calls(estimate.stages, estimate.steps, settings, true);
  return estimate;
}

} // namespace kernevo::run
