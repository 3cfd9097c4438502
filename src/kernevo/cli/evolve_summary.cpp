#include "kernevo/cli/evolve_summary.h"

#include "kernevo/cli/command.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/screen.h"
#include "kernevo/evolve/stops.h"
#include "kernevo/model/json_fields.h"

#include <cmath>
#include <fmt/format.h>

namespace kernevo::cli {
namespace {

using evolve::Member;
using evolve::RunState;

// The way from the reference to the best.
void print_path(const RunState& state, store::Journal& journal) {
  std::vector<std::vector<std::string>> rows;
  for (const evolve::BestPoint& best : state.bests) {
    const auto row = journal.step(best.candidate);
    const bool tuned = best.step != best.candidate;
    const std::string title = row && *row ? (*row)->title : "";
    rows.push_back(
        {std::to_string(best.step), time_text(best.objective.value),
         fmt::format("{:.2f} x", state.baseline->value / best.objective.value), best.tag,
         cut(tuned ? fmt::format("Step {} with better parameters.", best.candidate) : title, 90)});
  }
  fmt::print("{}", table(rows));
}

// What helped and what did harm, by pairs that differ in one move.
void print_lessons(const RunState& state) {
  for (const auto& [gene, effect] : state.genes)
    if (effect.pairs > 0 && std::abs(effect.mean()) > 0.02)
      fmt::print("  {} {}: {}\n", effect.mean() > 0 ? "helped " : "harmful", gene,
                 describe(effect));
}

std::string dollars_text(const std::optional<double>& dollars) {
  return dollars ? fmt::format("{:.4f} dollars", *dollars) : "cost unknown";
}

// What the models were asked for and what that took.
void print_spending(const RunState& state) {
  if (state.by_stage.empty())
    return;
  evolve::Spending sum;
  std::string stages;
  for (const auto& [stage, s] : state.by_stage) {
    sum.calls += s.calls;
    sum.usage += s.usage;
    sum.seconds += s.seconds;
    stages += fmt::format("{}{} {}", stages.empty() ? "" : ", ", s.calls, stage);
  }
  const std::string tokens =
      sum.usage.total() == 0 && sum.usage.estimated
          ? "tokens unknown"
          : fmt::format("{} tokens, {} in ({} cached), {} out ({} reasoning){}", sum.usage.total(),
                        sum.usage.prompt, sum.usage.cached, sum.usage.completion,
                        sum.usage.reasoning, sum.usage.estimated ? ", partly estimated" : "");
  fmt::print("models   {} calls ({}): {}, {}\n", sum.calls, stages, tokens,
             dollars_text(state.dollars));
  if (state.by_model.size() > 1)
    for (const auto& [model, s] : state.by_model)
      fmt::print("         {}: {} calls, {} tokens, {}\n", model, s.calls, s.usage.total(),
                 dollars_text(s.dollars));
  if (state.repaired > 0) {
    std::string faults;
    for (const auto& [fault, count] : state.faults_mended)
      faults += fmt::format("{}{} {}", faults.empty() ? "" : ", ", count, fault);
    fmt::print("mended   {} steps: {}\n", state.repaired, faults);
  }
}

Json spending_json(const std::map<std::string, evolve::Spending>& spending) {
  Json json = Json::object();
  for (const auto& [name, s] : spending) {
    json[name] = {{"calls", s.calls},
                  {"prompt_tokens", s.usage.prompt},
                  {"cached_tokens", s.usage.cached},
                  {"completion_tokens", s.usage.completion},
                  {"reasoning_tokens", s.usage.reasoning},
                  {"estimated", s.usage.estimated},
                  {"seconds", s.seconds}};
    put_optional(json[name], "dollars", s.dollars);
  }
  return json;
}

} // namespace

bool paused_on_a_device(const RunState& state) {
  return state.stopped && state.stopped->reason == StopReason::unavailable &&
         !is_modelled(state.started);
}

int exit_code_of(const RunState& state) {
  if (paused_on_a_device(state))
    return exit_code(ErrorCode::unavailable);
  return state.speedup() > 1 || evolve::met_by_baseline(state) ? kYes : kNo;
}

void print_run_summary(const RunState& state, store::Journal& journal,
                       const std::filesystem::path& folder, bool quiet) {
  const Member* best = state.best();
  if (best == nullptr) {
    fmt::print("no baseline yet\n");
    return;
  }
  if (!quiet) {
    fmt::print("\n");
    print_path(state, journal);
    print_lessons(state);
  }
  if (evolve::met_by_baseline(state)) {
    const bool target = state.stopped->reason == StopReason::target;
    fmt::print("{}; best is the reference, {}\n",
               paint(target ? "target met by the baseline" : "roofline reached by the baseline",
                     Tone::good),
               time_text(best->objective.value));
  } else if (state.speedup() <= 1) {
    std::string tried;
    for (const auto& [outcome, count] : state.outcomes)
      if (outcome != "baseline")
        tried += fmt::format("{}{} {}", tried.empty() ? "" : ", ", count, outcome);
    fmt::print("{}; best is the reference, {}\n", paint("no improvement found", Tone::warning),
               time_text(best->objective.value));
    fmt::print("tried    {} steps, {} evaluations: {}\n", state.told, state.evaluations,
               tried.empty() ? "nothing applied" : tried);
  } else {
    fmt::print("{}   {} -> {}, {} x the reference's speed, {}{}\n", paint("faster", Tone::good),
               time_text(state.baseline->value), time_text(best->objective.value),
               fmt::format("{:.2f}", state.speedup()), state.started.method,
               best->roofline
                   ? ", " + roofline_text(*best->roofline, state.started.estimate.has_value())
                   : "");
    if (!quiet) {
      fmt::print("best     step {}: {}\n", best->candidate.step, best->candidate.title);
      if (!best->parameters.empty())
        fmt::print("with     {}\n", parameters_text(best->parameters));
    }
  }
  if (quiet)
    return;
  print_spending(state);
  if (state.stopped)
    fmt::print("stopped  {} ({} steps, {} evaluations)\n", state.stopped->text, state.told,
               state.evaluations);
  const std::string run = folder.string();
  fmt::print("next     kernevo show {0} --why {1}; kernevo extract {0}; kernevo report {0}\n", run,
             best->candidate.step);
}

void print_run_summary_json(const RunState& state, const std::filesystem::path& folder) {
  Json body{{"run", state.started.run},         {"folder", folder.string()},
            {"method", state.started.method},   {"gpu", state.started.gpu},
            {"speedup", state.speedup()},       {"steps", state.told},
            {"evaluations", state.evaluations}, {"tokens", state.tokens}};
  put_optional(body, "dollars", state.dollars);
  body["by_stage"] = spending_json(state.by_stage);
  body["by_model"] = spending_json(state.by_model);
  body["repaired"] = state.repaired;
  body["faults_mended"] = state.faults_mended;
  put_optional(body, "baseline_ns",
               state.baseline ? std::optional(state.baseline->value) : std::nullopt);
  if (const Member* best = state.best()) {
    body["best_ns"] = best->objective.value;
    body["best_step"] = best->candidate.step;
    body["parameters"] = best->parameters;
    put_optional(body, "roofline", best->roofline);
    if (best->roofline)
      body["roofline_estimated"] = state.started.estimate.has_value();
  }
  body["met_by_baseline"] = evolve::met_by_baseline(state);
  body["stopped"] = state.stopped ? Json(name_of(state.stopped->reason)) : Json(nullptr);
  fmt::print("{}\n", dump_json(Json{{"event", "summary"}, {"body", body}}));
}

} // namespace kernevo::cli
