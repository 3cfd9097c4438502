#include "kernevo/cli/llm_estimate.h"

#include "kernevo/model/json_fields.h"

#include <fmt/format.h>

namespace kernevo::cli {
namespace {

void print_json(const run::RunEstimate& estimate) {
  const run::CallEstimate& low = estimate.least;
  const run::CallEstimate& high = estimate.most;
  Json json{
      {"steps", estimate.steps},
      {"calls", {low.calls, high.calls}},
      {"tokens", {low.tokens(), high.tokens()}},
      {"dollars", low.dollars && high.dollars ? Json{*low.dollars, *high.dollars} : Json(nullptr)},
      {"stages", Json::array()}};
  for (const run::StageEstimate& stage : estimate.stages)
    json["stages"].push_back({{"stage", stage.name},
                              {"prompt_tokens", stage.prompt},
                              {"reply_tokens", stage.reply},
                              {"calls_a_step", {stage.least, stage.most}}});
  fmt::print("{}\n", json.dump(2));
}

} // namespace

void print_estimate(const run::RunEstimate& estimate, const RunBudget& budget,
                    const CommonOptions& options) {
  if (options.json) {
    print_json(estimate);
    return;
  }
  const run::CallEstimate& low = estimate.least;
  const run::CallEstimate& high = estimate.most;
  std::vector<std::vector<std::string>> rows = {
      {"stage", "calls a step", "tokens in", "tokens out"}};
  for (const run::StageEstimate& stage : estimate.stages)
    rows.push_back({stage.name,
                    stage.least == stage.most
                        ? fmt::format("{:.0f}", stage.most)
                        : fmt::format("{:.0f} to {:.0f}", stage.least, stage.most),
                    std::to_string(stage.prompt), std::to_string(stage.reply)});
  fmt::print("estimate, nothing was asked; prompts are measured, replies guessed\n{}", table(rows));
  fmt::print("steps    about {:.0f} that ask for a kernel\n", estimate.steps);
  fmt::print("calls    {:.0f} to {:.0f}\n", low.calls, high.calls);
  fmt::print("tokens   {:.0f} to {:.0f}{}\n", low.tokens(), high.tokens(),
             budget.tokens ? fmt::format(", capped at {}", *budget.tokens) : "");
  fmt::print("dollars  {}\n", low.dollars && high.dollars
                                  ? fmt::format("{:.3f} to {:.3f}", *low.dollars, *high.dollars)
                                  : "unknown: no price is known; give --price IN,OUT");
}

} // namespace kernevo::cli
