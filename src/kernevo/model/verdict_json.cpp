#include "kernevo/model/json.h"
#include "kernevo/model/verdict_fields.h"

#include <limits>

namespace kernevo {
namespace {

// A wrong kernel may write what JSON has no number for: "inf", "-inf", "nan".
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

double number_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_string())
    return value.get<double>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto name = value.get<std::string>();
  if (name == "inf" || name == "-inf")
    return name == "inf" ? infinity : -infinity;
  if (name != "nan" && name != "-nan")
    refuse(fmt::format("{} is not a number", key));
  return std::numeric_limits<double>::quiet_NaN();
}

Json nullable(const std::optional<std::uint64_t>& count) {
  return count ? Json(*count) : Json(nullptr);
}

std::optional<std::uint64_t> count_or_null_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<std::uint64_t>());
}

Json case_to_json(const CheckedCase& c) {
  return {{"case", c.case_id},
          {"distribution", c.distribution},
          {"seed", nullable(c.seed)},
          {"hidden", c.hidden},
          {"blocks", c.blocks},
          {"blocks_run", nullable(c.blocks_run)},
          {"elements", c.elements},
          {"elements_checked", nullable(c.elements_checked)},
          {"worst_error_ratio", number(c.worst_error_ratio)}};
}

CheckedCase case_of(const Json& json) {
  only_keys(json, {"case", "distribution", "seed", "hidden", "blocks", "blocks_run", "elements",
                   "elements_checked", "worst_error_ratio"});
  return {json.at("case"),
          json.at("distribution"),
          count_or_null_at(json, "seed"),
          json.at("hidden"),
          json.at("blocks"),
          count_or_null_at(json, "blocks_run"),
          json.at("elements"),
          count_or_null_at(json, "elements_checked"),
          number_at(json, "worst_error_ratio")};
}

Json mismatch_to_json(const Mismatch& mismatch) {
  return {{"buffer", mismatch.buffer},
          {"index", mismatch.index},
          {"expected", number(mismatch.expected)},
          {"actual", number(mismatch.actual)},
          {"tolerance", number(mismatch.tolerance)}};
}

Mismatch mismatch_of(const Json& json) {
  only_keys(json, {"buffer", "index", "expected", "actual", "tolerance"});
  return {json.at("buffer"), json.at("index").get<std::vector<std::int64_t>>(),
          number_at(json, "expected"), number_at(json, "actual"), number_at(json, "tolerance")};
}

Verdict verdict_of(const Json& json) {
  only_keys(json, {"correct", "rung", "fault_class", "fault", "summary", "finding", "mismatch",
                   "failing_case", "diagnostics", "cases", "unseen", "judged_by", "printed",
                   "warnings", "hidden_warnings"});
  Verdict v;
  v.correct = json.at("correct");
  v.rung = enum_at(json, "rung", Rung::real_shapes);
  v.fault_class = nullable_enum_at(json, "fault_class", FaultClass::ambiguous);
  v.fault = nullable_enum_at(json, "fault", FaultKind::unproven);
  v.summary = json.at("summary");
  v.diagnostics = diagnostics_at(json, "diagnostics");
  if (!json.at("finding").is_null())
    v.finding = device_finding_of(json.at("finding"));
  if (!json.at("mismatch").is_null())
    v.mismatch = mismatch_of(json.at("mismatch"));
  if (!json.at("failing_case").is_null())
    v.failing_case = case_of(json.at("failing_case"));
  for (const Json& one : list_at(json, "cases"))
    v.cases.push_back(case_of(one));
  v.unseen = amount_at(json, "unseen");
  v.judged_by = json.value("judged_by", std::string());
  v.printed = json.at("printed");
  v.warnings = json.at("warnings").get<std::vector<std::string>>();
  v.hidden_warnings = json.at("hidden_warnings").get<std::vector<std::string>>();
  if (v.correct && v.fault)
    refuse("what has a fault is not correct");
  if (v.fault.has_value() != v.fault_class.has_value())
    refuse("a fault and its class go together");
  return v;
}

} // namespace

std::string to_json(const Verdict& verdict) {
  Json json{{"correct", verdict.correct}, {"rung", name_of(verdict.rung)}};
  json["fault_class"] = verdict.fault_class ? Json(name_of(*verdict.fault_class)) : Json(nullptr);
  json["fault"] = verdict.fault ? Json(name_of(*verdict.fault)) : Json(nullptr);
  json["summary"] = verdict.summary;
  json["finding"] = verdict.finding ? device_finding_to_json(*verdict.finding) : Json(nullptr);
  json["mismatch"] = verdict.mismatch ? mismatch_to_json(*verdict.mismatch) : Json(nullptr);
  json["failing_case"] = verdict.failing_case ? case_to_json(*verdict.failing_case) : Json(nullptr);
  json["diagnostics"] = diagnostics_to_json(verdict.diagnostics);
  json["cases"] = Json::array();
  for (const CheckedCase& c : verdict.cases)
    json["cases"].push_back(case_to_json(c));
  json["unseen"] = verdict.unseen;
  if (!verdict.judged_by.empty())
    json["judged_by"] = verdict.judged_by;
  json["printed"] = verdict.printed;
  json["warnings"] = verdict.warnings;
  json["hidden_warnings"] = verdict.hidden_warnings;
  return dump_json(json);
}

Result<Verdict> verdict_from_json(std::string_view text) {
  return read_json(text, "verdict", verdict_of);
}

} // namespace kernevo
