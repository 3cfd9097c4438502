#include "kernevo/model/finding_fields.h"
#include "kernevo/model/run_event_fields.h"

namespace kernevo {
namespace {

std::vector<Reason> reasons_at(const Json& json, const char* key) {
  std::vector<Reason> reasons;
  for (const Json& one : list_at(json, key)) {
    only_keys(one, {"metric", "value", "threshold"});
    reasons.push_back({one.at("metric"), one.at("value"), get_optional<double>(one, "threshold")});
  }
  return reasons;
}

Directive directive_of(const Json& json) {
  only_keys(json, {"step", "mode", "parent", "mate", "proposer", "direction", "rule", "gate",
                   "reason", "reasons", "evaluations", "incumbent", "incumbent_ns", "island",
                   "frontier", "profile"});
  Directive d;
  d.step = json.at("step");
  d.mode = enum_at(json, "mode", SearchMode::tune);
  d.parent = get_optional<Step>(json, "parent");
  d.mate = get_optional<Step>(json, "mate");
  d.proposer = json.at("proposer");
  d.direction = json.at("direction");
  d.rule = json.at("rule");
  d.gate = json.at("gate");
  d.reason = json.at("reason");
  d.reasons = reasons_at(json, "reasons");
  d.evaluations = json.at("evaluations");
  d.incumbent = get_optional<Step>(json, "incumbent");
  d.incumbent_ns = get_optional<double>(json, "incumbent_ns");
  d.island = json.at("island");
  d.frontier = json.at("frontier");
  d.profile = json.at("profile");
  return d;
}

Candidate candidate_of(const Json& json) {
  only_keys(json, {"step", "source", "parents", "proposer", "title", "genes", "tokens", "dollars",
                   "lessons", "language"});
  Candidate c;
  c.step = json.at("step");
  c.source = json.at("source");
  c.parents = json.at("parents").get<std::vector<Step>>();
  c.proposer = json.at("proposer");
  c.title = json.at("title");
  c.genes = json.at("genes").get<std::vector<std::string>>();
  c.cost = {json.at("tokens"), get_optional<double>(json, "dollars")};
  if (json.contains("lessons"))
    c.lessons = json.at("lessons").get<std::vector<std::string>>();
  // Runs from before there were several have none.
  c.language =
      optional_enum_at(json, "language", KernelLanguage::python).value_or(KernelLanguage::cuda);
  return c;
}

Attempt attempt_of(const Json& json) {
  only_keys(json, {"step", "ordinal", "source", "title", "diagnosis", "evaluations"});
  return {json.at("step"),
          json.at("ordinal"),
          json.at("source"),
          json.at("title"),
          value_of(diagnosis_from_json(dump_json(json.at("diagnosis")))),
          json.at("evaluations")};
}

KernelFacts facts_of(const Json& json) {
  only_keys(json,
            {"launches", "memory", "vector_bytes", "tensor", "registers", "occupancy", "limiter"});
  return {count_at(json, "launches"), json.at("memory"),           count_at(json, "vector_bytes"),
          json.at("tensor"),          count_at(json, "registers"), json.at("occupancy"),
          json.at("limiter")};
}

Evaluation evaluation_of(const Json& json) {
  only_keys(json, {"step", "candidate", "outcome", "fault", "summary", "duplicate_of", "identity",
                   "objective_ns", "shapes", "parameters", "facts", "roofline", "bottlenecks",
                   "profile", "evaluations", "tunable", "exhausted", "contest"});
  Evaluation e;
  e.step = json.at("step");
  e.candidate = json.at("candidate");
  e.outcome = enum_at(json, "outcome", StepOutcome::infrastructure);
  e.fault = optional_enum_at(json, "fault", FaultKind::unproven);
  e.summary = json.at("summary");
  e.duplicate_of = get_optional<Step>(json, "duplicate_of");
  e.identity = json.at("identity");
  if (const auto objective = get_optional<double>(json, "objective_ns"))
    e.objective = Nanoseconds{*objective};
  for (const Json& one : list_at(json, "shapes")) {
    only_keys(one, {"shape", "ns", "low", "high"});
    e.shapes.push_back({one.at("shape"), Nanoseconds{one.at("ns")}, Nanoseconds{one.at("low")},
                        Nanoseconds{one.at("high")}});
  }
  e.parameters = json.at("parameters").get<std::map<std::string, std::int64_t>>();
  if (json.contains("facts"))
    e.facts = facts_of(json.at("facts"));
  e.roofline = get_optional<double>(json, "roofline");
  for (const Json& one : list_at(json, "bottlenecks"))
    e.bottlenecks.push_back(finding_of(one));
  e.profile = json.at("profile");
  e.instances_timed = json.at("evaluations");
  e.tunable = json.at("tunable");
  e.exhausted = json.at("exhausted");
  e.contest = json.value("contest", std::string());
  return e;
}

} // namespace

Json reasons_to_json(const std::vector<Reason>& reasons) {
  Json list = Json::array();
  for (const Reason& reason : reasons) {
    Json one{{"metric", reason.metric}, {"value", reason.value}};
    if (reason.threshold)
      one["threshold"] = *reason.threshold;
    list.push_back(std::move(one));
  }
  return list;
}

Json facts_to_json(const KernelFacts& facts) {
  return {{"launches", facts.launches},
          {"memory", facts.memory},
          {"vector_bytes", facts.vector_bytes},
          {"tensor", facts.tensor},
          {"registers", facts.registers},
          {"occupancy", facts.occupancy},
          {"limiter", facts.limiter}};
}

Json named_shape_times_to_json(const std::vector<ShapeTime>& shapes) {
  Json list = Json::array();
  for (const ShapeTime& shape : shapes)
    list.push_back({{"shape", shape.shape},
                    {"ns", shape.time.value},
                    {"low", shape.low.value},
                    {"high", shape.high.value}});
  return list;
}

std::string to_json(const KernelFacts& facts) {
  return dump_json(facts_to_json(facts));
}

Result<KernelFacts> kernel_facts_from_json(std::string_view text) {
  return read_json(text, "facts of a kernel", facts_of);
}

std::string to_json(const Directive& d) {
  Json json{{"step", d.step},
            {"mode", name_of(d.mode)},
            {"proposer", d.proposer},
            {"direction", d.direction},
            {"rule", d.rule},
            {"gate", d.gate},
            {"reason", d.reason},
            {"reasons", reasons_to_json(d.reasons)},
            {"evaluations", d.evaluations},
            {"island", d.island},
            {"frontier", d.frontier},
            {"profile", d.profile}};
  put_optional(json, "parent", d.parent);
  put_optional(json, "mate", d.mate);
  put_optional(json, "incumbent", d.incumbent);
  put_optional(json, "incumbent_ns", d.incumbent_ns);
  return dump_json(json);
}

Result<Directive> directive_from_json(std::string_view text) {
  return read_json(text, "directive", directive_of);
}

std::string to_json(const Candidate& c) {
  Json json{{"step", c.step},         {"source", c.source}, {"parents", c.parents},
            {"proposer", c.proposer}, {"title", c.title},   {"genes", c.genes},
            {"tokens", c.cost.tokens}};
  put_optional(json, "dollars", c.cost.dollars);
  if (!c.lessons.empty())
    json["lessons"] = c.lessons;
  if (c.language != KernelLanguage::cuda)
    json["language"] = name_of(c.language);
  return dump_json(json);
}

Result<Candidate> candidate_from_json(std::string_view text) {
  return read_json(text, "candidate", candidate_of);
}

std::string to_json(const Attempt& a) {
  return dump_json({{"step", a.step},
                    {"ordinal", a.ordinal},
                    {"source", a.source},
                    {"title", a.title},
                    {"diagnosis", Json::parse(to_json(a.diagnosis))},
                    {"evaluations", a.instances_timed}});
}

Result<Attempt> attempt_from_json(std::string_view text) {
  return read_json(text, "attempt", attempt_of);
}

std::string to_json(const Evaluation& e) {
  Json json{{"step", e.step},
            {"candidate", e.candidate},
            {"outcome", name_of(e.outcome)},
            {"summary", e.summary},
            {"identity", e.identity},
            {"shapes", named_shape_times_to_json(e.shapes)},
            {"parameters", e.parameters},
            {"bottlenecks", Json::array()},
            {"profile", e.profile},
            {"evaluations", e.instances_timed},
            {"tunable", e.tunable},
            {"exhausted", e.exhausted}};
  if (!e.contest.empty())
    json["contest"] = e.contest;
  if (e.fault)
    json["fault"] = name_of(*e.fault);
  put_optional(json, "duplicate_of", e.duplicate_of);
  if (e.objective)
    json["objective_ns"] = e.objective->value;
  if (e.facts)
    json["facts"] = facts_to_json(*e.facts);
  put_optional(json, "roofline", e.roofline);
  for (const BottleneckFinding& finding : e.bottlenecks)
    json["bottlenecks"].push_back(finding_to_json(finding));
  return dump_json(json);
}

Result<Evaluation> evaluation_from_json(std::string_view text) {
  return read_json(text, "evaluation", evaluation_of);
}

} // namespace kernevo
