#include "kernevo/cli/llm_estimate.h"

#include "kernevo/cli/proposers.h"
#include "kernevo/llm/cost.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::cli {
namespace {

constexpr std::uint64_t kPlanReply = 250; // tokens, as models write them
constexpr std::uint64_t kLessonReply = 150;
constexpr double kLongerKernels = 2; // a good kernel over the reference's length
constexpr double kTuningShare = 0.3; // of the evaluations that go into further tuning

struct Stage {
  std::string name;
  std::uint64_t prompt = 0; // tokens of one call
  std::uint64_t reply = 0;
  double least = 0; // calls a step
  double most = 0;
};

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

Result<std::vector<Stage>> stages_of(const RunSettings& settings,
                                     const evolve::RunContext& context) {
  KERNEVO_TRY(writer, make_writer(context, settings.llm));
  const propose::ProposalRequest request = first_request(context);
  const auto kernel = static_cast<std::uint64_t>(
      kLongerKernels * static_cast<double>(llm::estimate_tokens(context.reference_source)));
  std::vector<Stage> stages;
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

struct Range {
  double calls = 0;
  double prompt = 0;
  double reply = 0;
};

Range total(const std::vector<Stage>& stages, double steps, bool most) {
  Range sum;
  for (const Stage& stage : stages) {
    const double calls = steps * (most ? stage.most : stage.least);
    sum.calls += calls;
    sum.prompt += calls * static_cast<double>(stage.prompt);
    sum.reply += calls * static_cast<double>(stage.reply);
  }
  return sum;
}

// A range under the cap: a run stops there.
Range capped(Range range, const RunBudget& budget) {
  const double all = range.prompt + range.reply;
  if (!budget.tokens || all <= static_cast<double>(*budget.tokens) || all == 0)
    return range;
  const double share = static_cast<double>(*budget.tokens) / all;
  return {range.calls * share, range.prompt * share, range.reply * share};
}

// Absent when no price is known.
std::optional<double> dollars_of(const Range& range, const RunSettings& settings, bool most) {
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

} // namespace

Result<int> print_estimate(const RunSettings& settings, const evolve::RunContext& context,
                           const CommonOptions& options) {
  if (settings.llm.models.empty())
    return fail(ErrorCode::usage, "--dry-run estimates what models would cost, and none is asked",
                std::nullopt, "add --proposer llm --model NAME");
  KERNEVO_TRY(stages, stages_of(settings, context));
  const auto steps = static_cast<double>(steps_of(settings));
  const Range low = capped(total(stages, steps, false), settings.budget);
  const Range high = capped(total(stages, steps, true), settings.budget);
  const auto least = dollars_of(low, settings, false);
  const auto most = dollars_of(high, settings, true);
  if (options.json) {
    Json json{{"steps", steps},
              {"calls", {low.calls, high.calls}},
              {"tokens", {low.prompt + low.reply, high.prompt + high.reply}},
              {"dollars", least && most ? Json{*least, *most} : Json(nullptr)},
              {"stages", Json::array()}};
    for (const Stage& stage : stages)
      json["stages"].push_back({{"stage", stage.name},
                                {"prompt_tokens", stage.prompt},
                                {"reply_tokens", stage.reply},
                                {"calls_a_step", {stage.least, stage.most}}});
    fmt::print("{}\n", json.dump(2));
    return kYes;
  }
  std::vector<std::vector<std::string>> rows = {
      {"stage", "calls a step", "tokens in", "tokens out"}};
  for (const Stage& stage : stages)
    rows.push_back({stage.name,
                    stage.least == stage.most
                        ? fmt::format("{:.0f}", stage.most)
                        : fmt::format("{:.0f} to {:.0f}", stage.least, stage.most),
                    std::to_string(stage.prompt), std::to_string(stage.reply)});
  fmt::print("estimate, nothing was asked; prompts are measured, replies guessed\n{}", table(rows));
  fmt::print("steps    about {:.0f} that ask for a kernel\n", steps);
  fmt::print("calls    {:.0f} to {:.0f}\n", low.calls, high.calls);
  fmt::print("tokens   {:.0f} to {:.0f}{}\n", low.prompt + low.reply, high.prompt + high.reply,
             settings.budget.tokens ? fmt::format(", capped at {}", *settings.budget.tokens) : "");
  fmt::print("dollars  {}\n", least && most ? fmt::format("{:.3f} to {:.3f}", *least, *most)
                                            : "unknown: no price is known; give --price IN,OUT");
  return kYes;
}

} // namespace kernevo::cli
