#include "kernevo/cli/why.h"

#include "kernevo/cli/command.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/model/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::cli {
namespace {

struct Chain {
  Directive directive;
  std::optional<Candidate> candidate;
  std::optional<Evaluation> evaluation;
  std::optional<Bottleneck> profile; // of the parent, as the decision saw it
  std::vector<Attempt> attempts;
  std::vector<ModelCall> calls;
};

Result<Chain> read_chain(run::StoredRun& run, Step step) {
  KERNEVO_TRY(directive, run.journal->directive(step));
  if (!directive)
    return fail(ErrorCode::usage, fmt::format("the run has no step {}", step), std::nullopt,
                fmt::format("its steps are 0 to {}",
                            run.state.next_step == 0 ? 0 : run.state.next_step - 1));
  Chain chain{*directive, std::nullopt, std::nullopt, std::nullopt, {}, {}};
  KERNEVO_TRY(attempts, run.journal->attempts(step));
  chain.attempts = std::move(attempts);
  KERNEVO_TRY(calls, run.journal->calls(step));
  chain.calls = std::move(calls);
  KERNEVO_TRY(candidate, run.journal->candidate(step));
  chain.candidate = std::move(candidate);
  KERNEVO_TRY(evaluation, run.journal->evaluation(step));
  chain.evaluation = std::move(evaluation);
  if (!directive->profile.empty()) {
    KERNEVO_TRY(text, run.journal->blob(directive->profile));
    KERNEVO_TRY(profile, bottleneck_from_json(text));
    chain.profile = std::move(profile);
  }
  return chain;
}

const RuleTrace* find_trace(const Chain& chain) {
  if (chain.profile)
    for (const RuleTrace& trace : chain.profile->trace)
      if (name_of(trace.tag) == chain.directive.rule)
        return &trace;
  return nullptr;
}

std::string number(double value) {
  return fmt::format("{:.4g}", value);
}

void print_rule(const Chain& chain) {
  const RuleTrace* trace = find_trace(chain);
  if (trace == nullptr)
    return;
  fmt::print("rule      {}: {}\n", chain.directive.rule, trace->condition);
  for (const RuleComparison& c : trace->comparisons)
    fmt::print("            {}: {} against {}, {}\n", c.text, c.left ? number(*c.left) : "unknown",
               c.right ? number(*c.right) : "unknown", c.holds ? "holds" : "does not hold");
}

void print_reasons(const Directive& directive) {
  for (const Reason& reason : directive.reasons) {
    const MetricInfo* metric = find_metric(reason.metric);
    fmt::print("            {} {}{}{}\n", reason.metric,
               metric == nullptr ? number(reason.value) : metric_text(reason.value, metric->unit),
               reason.threshold ? fmt::format(" (threshold {})", number(*reason.threshold)) : "",
               metric == nullptr ? "" : fmt::format("  {}", metric->meaning));
  }
}

std::string tokens_text(const TokenUsage& usage) {
  if (usage.total() == 0 && usage.estimated)
    return "tokens unknown";
  return fmt::format("{} tokens in ({} cached), {} out ({} reasoning){}", usage.prompt,
                     usage.cached, usage.completion, usage.reasoning,
                     usage.estimated ? ", partly estimated" : "");
}

void print_asking(const Chain& chain) {
  for (const ModelCall& call : chain.calls)
    fmt::print("asked     {} {}: {}, {}, {:.1f} s, {}\n", call.model, call.id,
               tokens_text(call.usage),
               call.dollars ? fmt::format("{:.5f} dollars", *call.dollars) : "cost unknown",
               call.seconds, call.finish);
  for (const Attempt& attempt : chain.attempts)
    fmt::print("mended    attempt {}: {}: {}\n", attempt.ordinal + 1,
               attempt.diagnosis.fault ? name_of(*attempt.diagnosis.fault) : "unreadable reply",
               attempt.diagnosis.summary);
}

void print_outcome(const Chain& chain, const std::string& method) {
  if (chain.candidate)
    fmt::print("proposed  {}{}\n", chain.candidate->title,
               chain.candidate->genes.empty()
                   ? ""
                   : fmt::format(" [{}]", fmt::join(chain.candidate->genes, " + ")));
  if (!chain.evaluation) {
    fmt::print("outcome   under way\n");
    return;
  }
  const Evaluation& e = *chain.evaluation;
  fmt::print("outcome   {}{}{}\n", name_of(e.outcome),
             e.objective ? fmt::format(", {} {}", time_text(e.objective->value), method) : "",
             e.summary.empty() ? "" : ": " + e.summary);
  if (chain.directive.incumbent_ns && e.objective)
    fmt::print("            {:.3f} times as fast as step {}, the best when it was decided\n",
               *chain.directive.incumbent_ns / e.objective->value,
               chain.directive.incumbent.value_or(0));
  if (!e.parameters.empty())
    fmt::print("            {}, {} instances timed\n", parameters_text(e.parameters),
               e.instances_timed);
  if (!e.bottlenecks.empty())
    fmt::print("          and now it is {}: {}\n", name_of(e.bottlenecks.front().tag),
               e.bottlenecks.front().message);
}

void print_text(const Chain& chain, const std::string& method) {
  const Directive& d = chain.directive;
  std::string asked = std::string(name_of(d.mode));
  if (d.parent)
    asked += fmt::format(" step {}", *d.parent);
  if (d.mate)
    asked += fmt::format(" with step {}", *d.mate);
  if (!d.direction.empty())
    asked += fmt::format(", direction {} by {}", d.direction, d.proposer);
  fmt::print("step {:<4} {}\n", d.step, paint(asked, Tone::strong));
  print_rule(chain);
  fmt::print("decided   by {}: {}\n", d.gate, d.reason);
  print_reasons(d);
  print_asking(chain);
  print_outcome(chain, method);
}

Result<void> print_ancestors(run::StoredRun& run, const Chain& chain) {
  std::optional<Step> parent = chain.directive.parent;
  constexpr int kGenerations = 12;
  for (int i = 0; i < kGenerations && parent; ++i) {
    KERNEVO_TRY(row, run.journal->step(*parent));
    if (!row)
      break;
    fmt::print("{} step {}: {}{}\n", i == 0 ? "before    " : "          ", row->step, row->title,
               row->objective_ns ? fmt::format(" ({})", time_text(*row->objective_ns)) : "");
    parent = row->parent;
  }
  return {};
}

Json to_json(const Chain& chain) {
  Json json{{"directive", Json::parse(kernevo::to_json(chain.directive))}};
  json["candidate"] =
      chain.candidate ? Json::parse(kernevo::to_json(*chain.candidate)) : Json(nullptr);
  json["evaluation"] =
      chain.evaluation ? Json::parse(kernevo::to_json(*chain.evaluation)) : Json(nullptr);
  json["attempts"] = Json::array();
  for (const Attempt& attempt : chain.attempts)
    json["attempts"].push_back(Json::parse(kernevo::to_json(attempt)));
  json["calls"] = Json::array();
  for (const ModelCall& call : chain.calls)
    json["calls"].push_back(Json::parse(kernevo::to_json(call)));
  json["profile"] = chain.profile ? Json::parse(kernevo::to_json(*chain.profile)) : Json(nullptr);
  return json;
}

} // namespace

Result<int> print_why(run::StoredRun& run, Step step, bool json) {
  KERNEVO_TRY(chain, read_chain(run, step));
  if (json) {
    fmt::print("{}\n", dump_json(to_json(chain), 2));
    return kYes;
  }
  print_text(chain, run.state.started.method);
  KERNEVO_CHECK(print_ancestors(run, chain));
  return kYes;
}

} // namespace kernevo::cli
