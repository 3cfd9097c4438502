#include "kernevo/report/page_data.h"

#include "kernevo/evolve/stops.h"
#include "kernevo/extract/conditions.h"
#include "kernevo/model/finding_fields.h"
#include "kernevo/model/run_event_fields.h"
#include "kernevo/report/importance.h"
#include "kernevo/report/work_model.h"

#include <algorithm>
#include <limits>
#include <map>

namespace kernevo::report {
namespace {

constexpr Step kEnd = std::numeric_limits<Step>::max();

Json run_json(const RunStory& story, std::int64_t made) {
  const RunStarted& started = story.state.started;
  Json json{{"name", started.run},
            {"task", started.task_name},
            {"task_file", started.task_file},
            {"operation", started.operation},
            {"gpu", started.gpu},
            {"provenance", provenance(started)},
            {"method", started.method},
            {"program", started.program},
            {"search", name_of(started.settings.search)},
            {"seed", started.settings.seed},
            {"proposers", started.settings.proposers},
            {"islands", started.settings.islands},
            {"budget", budget_to_json(started.settings.budget)},
            {"began", story.began},
            {"last", story.last},
            {"made", made},
            {"stop", nullptr},
            {"restarts", Json::array()}};
  if (story.state.stopped)
    json["stop"] = {{"reason", name_of(story.state.stopped->reason)},
                    {"text", story.state.stopped->text}};
  for (const Restarted& restart : story.restarts)
    json["restarts"].push_back({{"step", restart.step}, {"reason", restart.reason}});
  return json;
}

// In words, one for each thing known; empty where nothing was measured.
Json conditions_json(store::Journal& journal, const Evaluation& evaluation) {
  Json lines = Json::array();
  const auto known = extract::conditions_of(journal, evaluation);
  if (!known || !*known) // shots that cannot be read cost the page this line
    return lines;
  const Receipt& receipt = **known;
  if (const std::string state = extract::clock_and_heat(receipt); !state.empty())
    lines.push_back(state);
  if (receipt.cache)
    lines.push_back(fmt::format("{} cache", name_of(*receipt.cache)));
  if (receipt.code)
    lines.push_back(text_of(*receipt.code));
  return lines;
}

Json result_json(const RunStory& story, store::Journal& journal) {
  const evolve::RunState& state = story.state;
  const evolve::Member* best = state.best();
  if (!state.baseline || best == nullptr)
    return nullptr;
  Json json{
      {"before_ns", state.baseline->value}, {"after_ns", best->objective.value},
      {"speedup", state.speedup()},         {"candidate", best->candidate.step},
      {"step", best->candidate.step},       {"title", best->candidate.title},
      {"parameters", best->parameters},     {"met_by_baseline", evolve::met_by_baseline(state)}};
  put_optional(json, "roofline", best->roofline);
  put_optional(json, "target_ns", state.started.settings.target_ns);
  if (const Evaluation* one = story.known(best->candidate.step, kEnd)) {
    json["step"] = one->step;
    json["conditions"] = conditions_json(journal, *one);
  }
  return json;
}

Json spending_json(const std::map<std::string, evolve::Spending>& by_name) {
  Json json = Json::object();
  for (const auto& [name, spending] : by_name) {
    json[name] = {{"calls", spending.calls},
                  {"prompt", spending.usage.prompt},
                  {"completion", spending.usage.completion},
                  {"seconds", spending.seconds}};
    put_optional(json[name], "dollars", spending.dollars);
  }
  return json;
}

Json cost_json(const RunStory& story) {
  const evolve::RunState& state = story.state;
  Json json{{"steps", state.told},       {"evaluations", state.evaluations},
            {"seconds", story.seconds},  {"evaluation_seconds", story.evaluation_seconds},
            {"tokens", state.tokens},    {"under_way", state.pending.size()},
            {"outcomes", state.outcomes}};
  put_optional(json, "dollars", state.dollars);
  json["by_stage"] = spending_json(state.by_stage);
  json["by_model"] = spending_json(state.by_model);
  json["attempts"] = story.attempts;
  json["repaired"] = state.repaired;
  return json;
}

// A journal outlives the tables it was made with; what is missing then is told, not guessed.
Json work_json(const Result<RunWork>& work) {
  if (!work)
    return {{"problem", format_error(work.error())}, {"shapes", Json::array()}};
  Json json{{"problem", nullptr},
            {"dtype", work->dtype},
            {"semantics", work->semantics},
            {"dram_rate", work->dram_bytes_per_second},
            {"peak_rate", work->operations_per_second},
            {"roofline_ns", nullptr},
            {"estimated", work->estimated},
            {"shapes", Json::array()}};
  if (work->roofline)
    json["roofline_ns"] = work->roofline->value;
  for (const ShapeWork& shape : work->shapes)
    json["shapes"].push_back({{"shape", shape.shape},
                              {"flops", shape.flops},
                              {"bytes", shape.bytes},
                              {"least_ns", shape.least_ns}});
  return json;
}

Json best_json(const StoryStep& step) {
  const Evaluation& e = *step.evaluation;
  Json tags = Json::array();
  for (const BottleneckFinding& finding : e.bottlenecks)
    tags.push_back(Json::array({name_of(finding.tag), finding.severity}));
  Json times = Json::object();
  for (const ShapeTime& shape : e.shapes)
    times[shape.shape] = shape.time.value;
  return {{"step", e.step},
          {"candidate", e.candidate},
          {"spent", step.spent},
          {"ns", e.objective ? Json(e.objective->value) : Json(nullptr)},
          {"shapes", std::move(times)},
          {"tags", std::move(tags)}};
}

Json lessons_json(const evolve::GeneLessons& genes) {
  const std::set<std::string> harmful = evolve::avoid_patterns(genes);
  Json json = Json::array();
  for (const auto& [gene, effect] : genes) {
    Json pairs = Json::array();
    for (const evolve::Ablation& pair : effect.latest)
      pairs.push_back({{"without", pair.without}, {"with", pair.with}, {"gain", pair.gain}});
    json.push_back({{"gene", gene},
                    {"pairs", effect.pairs},
                    {"mean", effect.mean()},
                    {"least", effect.least},
                    {"most", effect.most},
                    {"faults", effect.faults},
                    {"avoid", harmful.contains(gene)},
                    {"evidence", std::move(pairs)}});
  }
  return json;
}

// The row of a step: what lists and charts need.
Json row_json(const StoryStep& step) {
  const Directive& d = step.directive;
  Json json{{"step", d.step},           {"mode", name_of(d.mode)}, {"proposer", d.proposer},
            {"direction", d.direction}, {"rule", d.rule},          {"gate", d.gate},
            {"reason", d.reason},       {"island", d.island}};
  put_optional(json, "parent", d.parent);
  put_optional(json, "mate", d.mate);
  json["spent"] = step.spent;
  if (step.candidate) {
    json["proposer"] = step.candidate->proposer;
    json["title"] = step.candidate->title;
    json["genes"] = step.candidate->genes;
    if (step.candidate->cost.tokens > 0) {
      json["tokens"] = step.candidate->cost.tokens;
      put_optional(json, "dollars", step.candidate->cost.dollars);
    }
  }
  if (!step.evaluation) {
    json["outcome"] = nullptr;
    return json;
  }
  const Evaluation& e = *step.evaluation;
  json["candidate"] = e.candidate;
  json["outcome"] = name_of(e.outcome);
  json["summary"] = e.summary;
  json["evaluations"] = e.instances_timed;
  put_optional(json, "seconds", step.seconds);
  put_optional(json, "same_as", e.duplicate_of);
  if (e.objective) {
    json["ns"] = e.objective->value;
    json["parameters"] = e.parameters;
    put_optional(json, "roofline", e.roofline);
    if (!e.bottlenecks.empty())
      json["tag"] = name_of(e.bottlenecks.front().tag);
  }
  return json;
}

Json attempts_json(const std::vector<Attempt>& attempts) {
  Json json = Json::array();
  for (const Attempt& attempt : attempts)
    json.push_back({{"title", attempt.title},
                    {"fault", attempt.diagnosis.fault ? Json(name_of(*attempt.diagnosis.fault))
                                                      : Json(nullptr)},
                    {"summary", attempt.diagnosis.summary},
                    {"details", attempt.diagnosis.details}});
  return json;
}

Json calls_json(const std::vector<ModelCall>& calls) {
  Json json = Json::array();
  for (const ModelCall& call : calls) {
    json.push_back({{"stage", call.stage},
                    {"model", call.model},
                    {"tokens", call.usage.total()},
                    {"seconds", call.seconds},
                    {"tries", call.tries},
                    {"finish", call.finish}});
    put_optional(json.back(), "dollars", call.dollars);
  }
  return json;
}

// Details are read step by step, so that of a long run only what is shown is looked up.
class Details {
public:
  Details(const RunStory& story, store::Journal& journal) : story_(story), journal_(journal) {}

  Json of(const StoryStep& step) {
    const Directive& d = step.directive;
    Json json{{"reasons", reasons_to_json(d.reasons)}, {"granted", d.evaluations}};
    put_optional(json, "incumbent", d.incumbent);
    put_optional(json, "incumbent_ns", d.incumbent_ns);
    if (!d.rule.empty() && d.parent)
      json["why"] = why(d);
    if (!step.attempts.empty())
      json["attempts"] = attempts_json(step.attempts);
    if (!step.calls.empty())
      json["calls"] = calls_json(step.calls);
    if (!step.evaluation)
      return json;
    const Evaluation& e = *step.evaluation;
    if (e.fault)
      json["fault"] = name_of(*e.fault);
    if (e.facts)
      json["facts"] = facts_to_json(*e.facts);
    json["exhausted"] = e.tunable && e.exhausted;
    json["shapes"] = named_shape_times_to_json(e.shapes);
    json["findings"] = Json::array();
    for (const BottleneckFinding& finding : e.bottlenecks)
      json["findings"].push_back(finding_to_json(finding));
    return json;
  }

private:
  // The finding of the parent that led to the direction, and the rule that made it.
  Json why(const Directive& d) {
    Json json{{"message", nullptr},
              {"severity", nullptr},
              {"direction", nullptr},
              {"condition", nullptr},
              {"comparisons", Json::array()}};
    const Evaluation* parent = story_.known(*d.parent, d.frontier);
    const auto tag = bottleneck_tag(d.rule);
    if (parent == nullptr || !tag)
      return json;
    for (const BottleneckFinding& finding : parent->bottlenecks) {
      if (finding.tag != *tag)
        continue;
      json["message"] = finding.message;
      json["severity"] = finding.severity;
      for (const BottleneckDirection& direction : finding.directions)
        if (direction.name == d.direction)
          json["direction"] = direction.text;
    }
    for (const RuleTrace& trace : traces(parent->profile)) {
      if (trace.tag != *tag)
        continue;
      json["condition"] = trace.condition;
      for (const RuleComparison& one : trace.comparisons) {
        json["comparisons"].push_back({{"text", one.text}, {"holds", one.holds}});
        put_optional(json["comparisons"].back(), "left", one.left);
        put_optional(json["comparisons"].back(), "right", one.right);
      }
    }
    return json;
  }

  // Many steps have the same parent. A profile that is missing or damaged leaves out the rule's
  // text; all else is in the events.
  const std::vector<RuleTrace>& traces(const std::string& profile) {
    const auto [found, fresh] = traces_.try_emplace(profile);
    if (!fresh || profile.empty())
      return found->second;
    if (const auto text = journal_.blob(profile))
      if (auto bottleneck = bottleneck_from_json(*text))
        found->second = std::move(bottleneck->trace);
    return found->second;
  }

  const RunStory& story_;
  store::Journal& journal_;
  std::map<std::string, std::vector<RuleTrace>> traces_;
};

// Steps, details and sources as far as the limits allow, the most telling first.
class Selection {
public:
  Selection(const RunStory& story, store::Journal& journal, const PageLimits& limits)
      : story_(story), journal_(journal), limits_(limits), details_(story, journal) {}

  void put(Json& page) {
    std::vector<std::size_t> order = by_importance(story_);
    order.resize(std::min(order.size(), limits_.steps));
    std::map<std::size_t, Json> rows; // in the order of steps
    for (const std::size_t index : order) {
      const StoryStep& step = story_.steps[index];
      Json& row = rows[index] = row_json(step);
      put_detail(step, row);
      put_source(step, row);
    }
    page["steps"] = Json::array();
    for (auto& [index, row] : rows)
      page["steps"].push_back(std::move(row));
    page["sources"] = std::move(texts_);
    page["limits"] = {{"steps_total", story_.steps.size()},
                      {"steps_shown", order.size()},
                      {"details_left_out", details_left_out_},
                      {"sources_left_out", sources_left_out_}};
  }

private:
  void put_detail(const StoryStep& step, Json& row) {
    if (detail_bytes_ >= limits_.detail_bytes) {
      ++details_left_out_;
      return;
    }
    row["detail"] = details_.of(step);
    detail_bytes_ += dump_json(row["detail"]).size();
  }

  // The place of the kernel's text; equal texts are kept once. What the journal lost is left out,
  // too: the run can still be told.
  void put_source(const StoryStep& step, Json& row) {
    if (!step.candidate)
      return;
    const std::string& hash = step.candidate->source;
    auto found = places_.find(hash);
    if (found == places_.end()) {
      auto text = source_bytes_ < limits_.source_bytes
                      ? journal_.blob(hash)
                      : Result<std::string>(fail(ErrorCode::input, "left out"));
      if (!text) {
        ++sources_left_out_;
        return;
      }
      source_bytes_ += text->size();
      found = places_.emplace(hash, texts_.size()).first;
      texts_.push_back(std::move(*text));
    }
    row["source"] = found->second;
  }

  const RunStory& story_;
  store::Journal& journal_;
  const PageLimits& limits_;
  Details details_;
  std::size_t detail_bytes_ = 0;
  std::size_t source_bytes_ = 0;
  std::size_t details_left_out_ = 0;
  std::size_t sources_left_out_ = 0;
  std::map<std::string, std::size_t> places_;
  Json texts_ = Json::array();
};

// In JSON '<' stands only inside strings, where it may be written like this: so no text of a kernel
// can end the script element or open a comment.
std::string inside_script(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

} // namespace

std::string provenance(const RunStarted& started) {
  return is_modelled(started) ? fmt::format("modelled on virtual {}", started.gpu)
         : started.hardware.empty()
             ? fmt::format("{} on {}", started.method, started.gpu)
             : fmt::format("{} on {} ({})", started.method, started.device, started.hardware);
}

Result<std::string> page_data(const RunStory& story, store::Journal& journal, std::int64_t made,
                              const PageLimits& limits) {
  Json page;
  page["run"] = run_json(story, made);
  page["result"] = result_json(story, journal);
  page["cost"] = cost_json(story);
  page["work"] = work_json(work_of(story, journal));
  page["before_shapes"] = named_shape_times_to_json(story.state.baseline_shapes);
  page["after_shapes"] = Json::array();
  if (story.state.incumbent)
    if (const Evaluation* best = story.known(*story.state.incumbent, kEnd))
      page["after_shapes"] = named_shape_times_to_json(best->shapes);
  page["bests"] = Json::array();
  for (const Step step : story.bests)
    page["bests"].push_back(best_json(*story.find(step)));
  page["lessons"] = lessons_json(story.state.genes);
  Selection(story, journal, limits).put(page);
  return inside_script(dump_json(page));
}

} // namespace kernevo::report
