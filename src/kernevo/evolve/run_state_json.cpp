#include "kernevo/evolve/run_state.h"
#include "kernevo/model/finding_fields.h"
#include "kernevo/model/timing_fields.h"

namespace kernevo::evolve {
namespace {

// Records have JSON of their own, as text.
template <class Record> Json nested(const Record& record) {
  return Json::parse(to_json(record));
}

Json member_to_json(const Member& m) {
  Json json{{"candidate", nested(m.candidate)},
            {"objective", m.objective.value},
            {"parameters", m.parameters},
            {"findings", Json::array()},
            {"profile", m.profile},
            {"cell", m.cell},
            {"island", m.island},
            {"epoch", m.epoch},
            {"tuned", m.tuned},
            {"tunable", m.tunable},
            {"exhausted", m.exhausted},
            {"tuning_helps", m.tuning_helps}};
  for (const BottleneckFinding& finding : m.findings)
    json["findings"].push_back(finding_to_json(finding));
  put_optional(json, "roofline", m.roofline);
  return json;
}

Member member_of(const Json& json) {
  Member m;
  m.candidate = value_of(candidate_from_json(json.at("candidate").dump()));
  m.objective = Nanoseconds{json.at("objective")};
  m.parameters = json.at("parameters").get<std::map<std::string, std::int64_t>>();
  for (const Json& finding : json.at("findings"))
    m.findings.push_back(finding_of(finding));
  m.roofline = get_optional<double>(json, "roofline");
  m.profile = json.at("profile");
  m.cell = json.at("cell");
  m.island = json.at("island");
  m.epoch = json.at("epoch");
  m.tuned = json.at("tuned");
  m.tunable = json.at("tunable");
  m.exhausted = json.at("exhausted");
  m.tuning_helps = json.at("tuning_helps");
  return m;
}

Json genes_to_json(const GeneLessons& genes) {
  Json list = Json::array();
  for (const auto& [gene, e] : genes) {
    Json latest = Json::array();
    for (const Ablation& a : e.latest)
      latest.push_back({a.without, a.with, a.gain});
    list.push_back({gene, e.pairs, e.sum, e.least, e.most, e.faults, latest});
  }
  return list;
}

Json spending_to_json(const std::map<std::string, Spending>& spending) {
  Json list = Json::array();
  for (const auto& [name, s] : spending)
    list.push_back({name, s.calls, s.usage.prompt, s.usage.cached, s.usage.completion,
                    s.usage.reasoning, s.usage.estimated,
                    s.dollars ? Json(*s.dollars) : Json(nullptr), s.seconds});
  return list;
}

std::map<std::string, Spending> spending_of(const Json& json) {
  std::map<std::string, Spending> spending;
  for (const Json& one : json) {
    Spending s{one.at(1), {one.at(2), one.at(3), one.at(4), one.at(5), one.at(6)}, {}, one.at(8)};
    s.dollars = one.at(7).is_null() ? std::nullopt : std::optional<double>(one.at(7));
    spending[one.at(0).get<std::string>()] = s;
  }
  return spending;
}

void put_authors(Json& json, const RunState& s) {
  json["pending_attempts"] = Json::array();
  for (const auto& [step, attempts] : s.pending_attempts)
    for (const Attempt& attempt : attempts)
      json["pending_attempts"].push_back(nested(attempt));
  json["pending_calls"] = Json::array();
  for (const auto& [step, calls] : s.pending_calls)
    for (const auto& [id, call] : calls)
      json["pending_calls"].push_back(nested(call));
  json["proposers"] = Json::array();
  for (const auto& [name, record] : s.proposers)
    json["proposers"].push_back({name, record.steps, record.reward, record.cost});
  json["by_stage"] = spending_to_json(s.by_stage);
  json["by_model"] = spending_to_json(s.by_model);
  json["recent"] = Json::array();
  for (const PastStep& r : s.recent)
    json["recent"].push_back({r.step, r.title, r.direction, r.outcome,
                              r.speedup ? Json(*r.speedup) : Json(nullptr), r.fault});
  json["lessons"] = s.lessons;
  json["dollars_known"] = s.dollars_known;
  json["repaired"] = s.repaired;
  json["faults_mended"] = s.faults_mended;
  json["epoch_tokens"] = s.epoch_tokens;
}

void get_authors(const Json& json, RunState& s) {
  for (const Json& one : json.at("pending_attempts")) {
    Attempt attempt = value_of(attempt_from_json(one.dump()));
    s.pending_attempts[attempt.step].push_back(std::move(attempt));
  }
  for (const Json& one : json.at("pending_calls")) {
    ModelCall call = value_of(model_call_from_json(one.dump()));
    s.pending_calls[call.step][call.id] = std::move(call);
  }
  for (const Json& one : json.at("proposers"))
    s.proposers[one.at(0).get<std::string>()] = {one.at(1), one.at(2), one.at(3)};
  s.by_stage = spending_of(json.at("by_stage"));
  s.by_model = spending_of(json.at("by_model"));
  for (const Json& one : json.at("recent")) {
    s.recent.push_back({one.at(0), one.at(1), one.at(2), one.at(3), std::nullopt, one.at(5)});
    if (!one.at(4).is_null())
      s.recent.back().speedup = one.at(4).get<double>();
  }
  s.lessons = json.at("lessons").get<std::vector<std::string>>();
  s.dollars_known = json.at("dollars_known");
  s.repaired = json.at("repaired");
  s.faults_mended = json.at("faults_mended").get<std::map<std::string, std::uint64_t>>();
  s.epoch_tokens = json.at("epoch_tokens");
}

GeneLessons genes_of(const Json& json) {
  GeneLessons genes;
  for (const Json& one : json) {
    GeneEffect effect{one.at(1), one.at(2), one.at(3), one.at(4), one.at(5), {}};
    for (const Json& a : one.at(6))
      effect.latest.push_back({a.at(0), a.at(1), a.at(2)});
    genes[one.at(0).get<std::string>()] = std::move(effect);
  }
  return genes;
}

void put_archive(Json& json, const RunState& s) {
  json["members"] = Json::array();
  for (const auto& [step, member] : s.members)
    json["members"].push_back(member_to_json(member));
  json["elites"] = Json::array();
  for (const auto& [key, step] : s.elites)
    json["elites"].push_back({key.first, key.second, step});
  json["arms"] = Json::array();
  for (const auto& [key, arm] : s.arms)
    json["arms"].push_back({key.first, key.second, arm.tries, arm.reward});
  json["tabu"] = Json::array();
  for (const auto& [key, until] : s.tabu)
    json["tabu"].push_back({key.first, key.second, until});
  json["genes"] = genes_to_json(s.genes);
  json["bests"] = Json::array();
  for (const BestPoint& b : s.bests)
    json["bests"].push_back({b.step, b.candidate, b.evaluations, b.objective.value, b.tag});
}

void get_archive(const Json& json, RunState& s) {
  for (const Json& one : json.at("members")) {
    Member member = member_of(one);
    s.members[member.candidate.step] = std::move(member);
  }
  for (const Json& one : json.at("elites"))
    s.elites[{one.at(0).get<std::uint32_t>(), one.at(1).get<std::string>()}] = one.at(2);
  for (const Json& one : json.at("arms"))
    s.arms[{one.at(0).get<std::string>(), one.at(1).get<std::string>()}] = {one.at(2), one.at(3)};
  for (const Json& one : json.at("tabu"))
    s.tabu[{one.at(0).get<Step>(), one.at(1).get<std::string>()}] = one.at(2);
  s.genes = genes_of(json.at("genes"));
  for (const Json& one : json.at("bests"))
    s.bests.push_back(
        {one.at(0), one.at(1), one.at(2), Nanoseconds{one.at(3)}, one.at(4).get<std::string>()});
}

RunState state_of(const Json& json) {
  RunState s;
  s.started =
      std::get<RunStarted>(value_of(event_from_json("run_started", json.at("started").dump())));
  s.next_step = json.at("next_step");
  for (const Json& one : json.at("pending")) {
    Directive d = value_of(directive_from_json(one.dump()));
    s.pending[d.step] = std::move(d);
  }
  for (const Json& one : json.at("pending_candidates")) {
    Candidate c = value_of(candidate_from_json(one.dump()));
    s.pending_candidates[c.step] = std::move(c);
  }
  if (const auto baseline = get_optional<double>(json, "baseline"))
    s.baseline = Nanoseconds{*baseline};
  s.baseline_shapes = shape_times_of(json.at("baseline_shapes"));
  s.incumbent = get_optional<Step>(json, "incumbent");
  get_archive(json, s);
  get_authors(json, s);
  s.lessons_told = json.at("lessons_told");
  s.tags_acted_on = json.at("tags_acted_on").get<std::set<std::string>>();
  s.told = json.at("told");
  s.evaluations = json.at("evaluations");
  s.tokens = json.at("tokens");
  s.dollars = get_optional<double>(json, "dollars");
  s.since_gain = json.at("since_gain");
  s.trouble_in_a_row = json.at("trouble_in_a_row");
  s.outcomes = json.at("outcomes").get<std::map<std::string, std::uint64_t>>();
  s.epoch = json.at("epoch");
  s.epoch_step = json.at("epoch_step");
  s.epoch_evaluations = json.at("epoch_evaluations");
  s.epoch_proposals = json.at("epoch_proposals");
  s.last_migration = json.at("last_migration");
  if (json.contains("stopped"))
    s.stopped =
        std::get<RunStopped>(value_of(event_from_json("run_stopped", json.at("stopped").dump())));
  return s;
}

} // namespace

std::string to_json(const RunState& s) {
  Json json;
  json["started"] = nested(RunEvent(s.started));
  json["next_step"] = s.next_step;
  json["pending"] = Json::array();
  for (const auto& [step, directive] : s.pending)
    json["pending"].push_back(nested(directive));
  json["pending_candidates"] = Json::array();
  for (const auto& [step, candidate] : s.pending_candidates)
    json["pending_candidates"].push_back(nested(candidate));
  put_optional(json, "baseline",
               s.baseline ? std::optional(s.baseline->value) : std::optional<double>());
  json["baseline_shapes"] = shape_times_to_json(s.baseline_shapes);
  put_optional(json, "incumbent", s.incumbent);
  put_archive(json, s);
  put_authors(json, s);
  json["lessons_told"] = s.lessons_told;
  json["tags_acted_on"] = s.tags_acted_on;
  json["told"] = s.told;
  json["evaluations"] = s.evaluations;
  json["tokens"] = s.tokens;
  put_optional(json, "dollars", s.dollars);
  json["since_gain"] = s.since_gain;
  json["trouble_in_a_row"] = s.trouble_in_a_row;
  json["outcomes"] = s.outcomes;
  json["epoch"] = s.epoch;
  json["epoch_step"] = s.epoch_step;
  json["epoch_evaluations"] = s.epoch_evaluations;
  json["epoch_proposals"] = s.epoch_proposals;
  json["last_migration"] = s.last_migration;
  if (s.stopped)
    json["stopped"] = nested(RunEvent(*s.stopped));
  return dump_json(json);
}

Result<RunState> run_state_from_json(std::string_view text) {
  return read_json(text, "state of a run", state_of);
}

} // namespace kernevo::evolve
