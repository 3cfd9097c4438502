#include "kernevo/model/run_event.h"

#include "kernevo/model/run_event_fields.h"
#include "kernevo/model/timing.h"

#include <array>

namespace kernevo {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<RunEvent>> kKinds = {
    "run_started", "directive",   "candidate",   "evaluation", "restarted",
    "migrated",    "run_stopped", "run_resumed", "attempt",    "model_call"};

RunBudget budget_of(const Json& json) {
  only_keys(json, {"rounds", "evaluations", "seconds", "tokens", "dollars"});
  return {get_optional<std::uint64_t>(json, "rounds"),
          get_optional<std::uint64_t>(json, "evaluations"), get_optional<double>(json, "seconds"),
          get_optional<std::uint64_t>(json, "tokens"), get_optional<double>(json, "dollars")};
}

Json settings_to_json(const RunSettings& s) {
  Json json{{"proposers", s.proposers},
            {"search", name_of(s.search)},
            {"seed", s.seed},
            {"inputs", s.inputs},
            {"ahead", s.ahead},
            {"islands", s.islands},
            {"migration", s.migration},
            {"budget", budget_to_json(s.budget)},
            {"roofline", s.roofline},
            {"plateau", s.plateau},
            {"first_tuning", s.first_tuning},
            {"guard", s.guard},
            {"least_gain", s.least_gain},
            {"patience_minutes", s.patience_minutes},
            {"restart_after", s.restart_after},
            {"restart_after_tokens", s.restart_after_tokens},
            {"poor_speedup", s.poor_speedup},
            {"llm", Json::parse(to_json(s.llm))},
            {"command", s.command},
            {"command_seconds", s.command_seconds}};
  put_optional(json, "target_ns", s.target_ns);
  if (s.hot_cache)
    json["hot_cache"] = true;
  return json;
}

RunSettings settings_of(const Json& json) {
  only_keys(json, {"proposers",
                   "search",
                   "seed",
                   "inputs",
                   "ahead",
                   "islands",
                   "migration",
                   "budget",
                   "target_ns",
                   "roofline",
                   "plateau",
                   "first_tuning",
                   "guard",
                   "least_gain",
                   "restart_after",
                   "restart_after_tokens",
                   "poor_speedup",
                   "llm",
                   "command",
                   "command_seconds",
                   "patience_minutes",
                   "hot_cache"});
  RunSettings s;
  s.proposers = json.at("proposers").get<std::vector<std::string>>();
  s.search = enum_at(json, "search", SearchKind::sequential);
  s.seed = json.at("seed");
  s.inputs = json.at("inputs");
  s.ahead = json.at("ahead");
  s.islands = json.at("islands");
  s.migration = json.at("migration");
  s.budget = budget_of(json.at("budget"));
  s.target_ns = get_optional<double>(json, "target_ns");
  s.roofline = json.at("roofline");
  s.plateau = json.at("plateau");
  s.first_tuning = json.at("first_tuning");
  s.guard = json.at("guard");
  s.least_gain = json.at("least_gain");
  // Runs from before real shapes were run whole had no patience.
  s.patience_minutes = json.value("patience_minutes", s.patience_minutes);
  s.hot_cache = json.value("hot_cache", false);
  s.restart_after = json.at("restart_after");
  s.poor_speedup = json.at("poor_speedup");
  // Runs from before there were models have none of these.
  if (!json.contains("llm"))
    return s;
  s.restart_after_tokens = json.at("restart_after_tokens");
  s.llm = value_of(llm_settings_from_json(dump_json(json.at("llm"))));
  s.command = json.at("command");
  s.command_seconds = json.at("command_seconds");
  return s;
}

Json estimate_to_json(const WorkEstimate& estimate) {
  Json json{{"roofline_ns", estimate.roofline_ns},
            {"moving_ns", estimate.moving_ns},
            {"least_ns", estimate.least_ns},
            {"shapes", Json::array()}};
  for (const ShapeEstimate& shape : estimate.shapes)
    json["shapes"].push_back({{"shape", shape.shape},
                              {"flops", shape.flops},
                              {"bytes", shape.bytes},
                              {"least_bytes", shape.least_bytes},
                              {"tried", shape.tried},
                              {"changed", shape.changed}});
  return json;
}

WorkEstimate estimate_of(const Json& json) {
  only_keys(json, {"roofline_ns", "moving_ns", "least_ns", "shapes"});
  WorkEstimate estimate;
  estimate.roofline_ns = json.at("roofline_ns");
  estimate.moving_ns = json.at("moving_ns");
  estimate.least_ns = json.at("least_ns");
  for (const Json& one : list_at(json, "shapes")) {
    only_keys(one, {"shape", "flops", "bytes", "least_bytes", "tried", "changed"});
    estimate.shapes.push_back({one.at("shape"), one.at("flops"), one.at("bytes"),
                               one.at("least_bytes"), one.at("tried"), one.at("changed")});
  }
  return estimate;
}

RunStarted started_of(const Json& json) {
  only_keys(json, {"run", "task_file", "task", "task_name", "operation", "gpu", "device", "method",
                   "program", "context", "settings", "estimate", "hardware"});
  return {json.at("run"),
          json.at("task_file"),
          json.at("task"),
          json.at("task_name"),
          json.at("operation"),
          json.at("gpu"),
          json.value("device", std::string()),
          json.at("method"),
          json.at("program"),
          json.at("context"),
          settings_of(json.at("settings")),
          json.contains("estimate") ? std::optional(estimate_of(json.at("estimate")))
                                    : std::nullopt,
          json.value("hardware", std::string())};
}

Restarted restarted_of(const Json& json) {
  only_keys(json, {"step", "epoch", "reason", "reasons"});
  Restarted restarted{json.at("step"), json.at("epoch"), json.at("reason"), {}};
  for (const Json& one : list_at(json, "reasons")) {
    only_keys(one, {"metric", "value", "threshold"});
    restarted.reasons.push_back(
        {one.at("metric"), one.at("value"), get_optional<double>(one, "threshold")});
  }
  return restarted;
}

struct Writer {
  std::string operator()(const RunStarted& e) const {
    Json json{{"run", e.run},
              {"task_file", e.task_file},
              {"task", e.task},
              {"task_name", e.task_name},
              {"operation", e.operation},
              {"gpu", e.gpu},
              {"device", e.device},
              {"method", e.method},
              {"program", e.program},
              {"context", e.context},
              {"settings", settings_to_json(e.settings)}};
    if (e.estimate)
      json["estimate"] = estimate_to_json(*e.estimate);
    if (!e.hardware.empty())
      json["hardware"] = e.hardware;
    return dump_json(json);
  }
  std::string operator()(const Directive& e) const { return to_json(e); }
  std::string operator()(const Candidate& e) const { return to_json(e); }
  std::string operator()(const Evaluation& e) const { return to_json(e); }
  std::string operator()(const Restarted& e) const {
    Json reasons = Json::array();
    for (const Reason& reason : e.reasons) {
      reasons.push_back({{"metric", reason.metric}, {"value", reason.value}});
      put_optional(reasons.back(), "threshold", reason.threshold);
    }
    return dump_json(
        {{"step", e.step}, {"epoch", e.epoch}, {"reason", e.reason}, {"reasons", reasons}});
  }
  std::string operator()(const Migrated& e) const { return dump_json({{"step", e.step}}); }
  std::string operator()(const RunStopped& e) const {
    return dump_json({{"reason", name_of(e.reason)}, {"text", e.text}});
  }
  std::string operator()(const RunResumed& e) const {
    return dump_json({{"step", e.step}, {"budget", budget_to_json(e.budget)}});
  }
  std::string operator()(const Attempt& e) const { return to_json(e); }
  std::string operator()(const ModelCall& e) const { return to_json(e); }
};

template <class T> RunEvent as_event(T value) {
  return RunEvent(std::move(value));
}

} // namespace

Json budget_to_json(const RunBudget& budget) {
  Json json;
  put_optional(json, "rounds", budget.rounds);
  put_optional(json, "evaluations", budget.evaluations);
  put_optional(json, "seconds", budget.seconds);
  put_optional(json, "tokens", budget.tokens);
  put_optional(json, "dollars", budget.dollars);
  return json;
}

std::string_view name_of(SearchKind value) {
  switch (value) {
  case SearchKind::evolve: return "evolve";
  case SearchKind::best_of_n: return "best-of-n";
  case SearchKind::sequential: return "sequential";
  }
  return "unknown";
}

std::optional<SearchKind> search_kind(std::string_view name) {
  for (const SearchKind kind : {SearchKind::evolve, SearchKind::best_of_n, SearchKind::sequential})
    if (name_of(kind) == name)
      return kind;
  return std::nullopt;
}

bool is_modelled(const RunStarted& started) {
  return started.method == name_of(TimingMethod::modelled);
}

std::string_view name_of(StopReason value) {
  switch (value) {
  case StopReason::target: return "target";
  case StopReason::roofline: return "roofline";
  case StopReason::rounds: return "rounds";
  case StopReason::evaluations: return "evaluations";
  case StopReason::seconds: return "seconds";
  case StopReason::tokens: return "tokens";
  case StopReason::dollars: return "dollars";
  case StopReason::plateau: return "plateau";
  case StopReason::exhausted: return "exhausted";
  case StopReason::interrupted: return "interrupted";
  case StopReason::trouble: return "trouble";
  case StopReason::unavailable: return "unavailable";
  }
  return "unknown";
}

std::string_view kind_of(const RunEvent& event) {
  return kKinds.at(event.index());
}

Step step_of(const RunEvent& event) {
  return std::visit(
      [](const auto& e) -> Step {
        if constexpr (requires { e.step; })
          return e.step;
        else
          return 0;
      },
      event);
}

std::string to_json(const RunEvent& event) {
  return std::visit(Writer{}, event);
}

Result<RunEvent> event_from_json(std::string_view kind, std::string_view text) {
  if (kind == "run_started")
    return read_json(text, "run_started", started_of).map(as_event<RunStarted>);
  if (kind == "directive")
    return directive_from_json(text).map(as_event<Directive>);
  if (kind == "candidate")
    return candidate_from_json(text).map(as_event<Candidate>);
  if (kind == "evaluation")
    return evaluation_from_json(text).map(as_event<Evaluation>);
  if (kind == "restarted")
    return read_json(text, "restarted", restarted_of).map(as_event<Restarted>);
  if (kind == "migrated")
    return read_json(text, "migrated", [](const Json& json) {
      only_keys(json, {"step"});
      return RunEvent(Migrated{json.at("step")});
    });
  if (kind == "run_stopped")
    return read_json(text, "run_stopped", [](const Json& json) {
      only_keys(json, {"reason", "text"});
      return RunEvent(
          RunStopped{enum_at(json, "reason", StopReason::unavailable), json.at("text")});
    });
  if (kind == "run_resumed")
    return read_json(text, "run_resumed", [](const Json& json) {
      only_keys(json, {"step", "budget"});
      return RunEvent(RunResumed{json.at("step"), budget_of(json.at("budget"))});
    });
  if (kind == "attempt")
    return attempt_from_json(text).map(as_event<Attempt>);
  if (kind == "model_call")
    return model_call_from_json(text).map(as_event<ModelCall>);
  return fail(ErrorCode::input, "an event of unknown kind '" + std::string(kind) + "'",
              std::nullopt, "the journal was written by a newer kernevo; use that");
}

} // namespace kernevo
