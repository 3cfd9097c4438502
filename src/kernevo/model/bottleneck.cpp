#include "kernevo/model/bottleneck.h"

#include "kernevo/model/finding_fields.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <array>
#include <set>

namespace kernevo {
namespace {

constexpr std::array<std::string_view, kBottleneckTags> kTags = {
    "dram_bound",        "uncoalesced",   "l2_bound",          "compute_bound",
    "tensor_core_idle",  "latency_bound", "occupancy_limited", "spills",
    "bank_conflict",     "barrier_bound", "divergence",        "tail_or_launch_bound",
    "atomics_contended", "near_roofline"};

BottleneckTag tag_at(const Json& json) {
  return enum_at(json, "tag", BottleneckTag::near_roofline);
}

} // namespace

Json finding_to_json(const BottleneckFinding& finding) {
  Json json{{"tag", name_of(finding.tag)}, {"severity", finding.severity},
            {"message", finding.message},  {"reason", finding.reason},
            {"evidence", Json::array()},   {"directions", Json::array()}};
  for (const BottleneckEvidence& e : finding.evidence) {
    Json one{{"metric", e.metric}, {"value", e.value}, {"unit", e.unit}};
    put_optional(one, "threshold", e.threshold);
    if (!e.source.empty())
      one["source"] = e.source;
    json["evidence"].push_back(std::move(one));
  }
  for (const BottleneckDirection& d : finding.directions)
    json["directions"].push_back({{"name", d.name}, {"text", d.text}});
  return json;
}

BottleneckFinding finding_of(const Json& json) {
  only_keys(json, {"tag", "severity", "message", "reason", "evidence", "directions"});
  BottleneckFinding finding{
      tag_at(json), json.at("severity"), json.at("message"), json.at("reason"), {}, {}};
  for (const Json& one : list_at(json, "evidence")) {
    only_keys(one, {"metric", "value", "unit", "threshold", "source"});
    finding.evidence.push_back({one.at("metric"), one.at("value"), one.at("unit"),
                                get_optional<double>(one, "threshold"),
                                get_optional<std::string>(one, "source").value_or("")});
  }
  for (const Json& one : list_at(json, "directions")) {
    only_keys(one, {"name", "text"});
    finding.directions.push_back({one.at("name"), one.at("text")});
  }
  return finding;
}

namespace {

Json trace_to_json(const RuleTrace& trace) {
  Json json{{"tag", name_of(trace.tag)},
            {"fired", trace.fired},
            {"condition", trace.condition},
            {"comparisons", Json::array()}};
  for (const RuleComparison& c : trace.comparisons) {
    Json one{{"text", c.text}};
    put_optional(one, "left", c.left);
    put_optional(one, "right", c.right);
    one["holds"] = c.holds;
    json["comparisons"].push_back(std::move(one));
  }
  return json;
}

RuleTrace trace_of(const Json& json) {
  only_keys(json, {"tag", "fired", "condition", "comparisons"});
  RuleTrace trace{tag_at(json), json.at("condition"), {}, json.at("fired")};
  for (const Json& one : list_at(json, "comparisons")) {
    only_keys(one, {"text", "left", "right", "holds"});
    trace.comparisons.push_back({one.at("text"), get_optional<double>(one, "left"),
                                 get_optional<double>(one, "right"), one.at("holds")});
  }
  return trace;
}

Bottleneck bottleneck_of(const Json& json) {
  only_keys(json, {"kernel", "findings", "trace"});
  Bottleneck bottleneck{json.at("kernel"), {}, {}};
  for (const Json& one : list_at(json, "findings"))
    bottleneck.findings.push_back(finding_of(one));
  for (const Json& one : list_at(json, "trace"))
    bottleneck.trace.push_back(trace_of(one));
  return bottleneck;
}

} // namespace

std::string_view name_of(BottleneckTag tag) {
  return kTags.at(static_cast<std::size_t>(tag));
}

std::optional<BottleneckTag> bottleneck_tag(std::string_view name) {
  for (std::size_t i = 0; i < kTags.size(); ++i)
    if (kTags.at(i) == name)
      return static_cast<BottleneckTag>(i);
  return std::nullopt;
}

const BottleneckFinding* Bottleneck::find(BottleneckTag tag) const {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const BottleneckFinding& f) { return f.tag == tag; });
  return found == findings.end() ? nullptr : &*found;
}

Result<Bottleneck> make_bottleneck(Bottleneck parts) {
  const auto wrong = [&](BottleneckTag tag, const char* what) {
    return fail(ErrorCode::input,
                fmt::format("bottleneck record of {}: {} {}", parts.kernel, name_of(tag), what));
  };
  std::set<BottleneckTag> fired;
  std::set<BottleneckTag> traced;
  for (const RuleTrace& trace : parts.trace) {
    if (!traced.insert(trace.tag).second)
      return wrong(trace.tag, "is in the trace twice");
    if (trace.fired)
      fired.insert(trace.tag);
  }
  for (const BottleneckFinding& finding : parts.findings) {
    if (!(finding.severity >= 0 && finding.severity <= 1))
      return wrong(finding.tag, "has a severity outside 0 to 1");
    if (fired.erase(finding.tag) == 0)
      return wrong(finding.tag, "is found, but no rule of the trace fired for it");
  }
  if (!fired.empty())
    return wrong(*fired.begin(), "fired, but is not among the findings");
  std::stable_sort(parts.findings.begin(), parts.findings.end(),
                   [](const BottleneckFinding& a, const BottleneckFinding& b) {
                     return a.severity > b.severity;
                   });
  return parts;
}

std::string to_json(const Bottleneck& bottleneck) {
  Json json{{"kernel", bottleneck.kernel}, {"findings", Json::array()}, {"trace", Json::array()}};
  for (const BottleneckFinding& finding : bottleneck.findings)
    json["findings"].push_back(finding_to_json(finding));
  for (const RuleTrace& trace : bottleneck.trace)
    json["trace"].push_back(trace_to_json(trace));
  return dump_json(json);
}

Result<Bottleneck> bottleneck_from_json(std::string_view text) {
  return read_json(text, "bottleneck record", bottleneck_of).and_then(make_bottleneck);
}

} // namespace kernevo
