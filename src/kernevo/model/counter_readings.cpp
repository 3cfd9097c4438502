#include "kernevo/model/counter_readings.h"

#include "kernevo/model/json_fields.h"

#include <array>
#include <utility>

namespace kernevo {
namespace {

constexpr std::array<std::string_view, 3> kOrigins = {"gpu", "stand_in", "file"};

CounterReadings readings_of(const Json& json) {
  only_keys(json, {"kernel", "values"});
  CounterReadings readings{json.at("kernel"), {}};
  for (const auto& [name, value] : object_at(json, "values").items())
    readings.values[name] = value.get<double>();
  return readings;
}

} // namespace

std::string_view name_of(CounterOrigin origin) {
  return kOrigins.at(static_cast<std::size_t>(origin));
}

std::string HardwareCounters::label() const {
  return origin == CounterOrigin::stand_in ? "stand-in for " + source : source;
}

const std::vector<CounterReadings>* HardwareCounters::find(const std::string& case_id) const {
  const auto found = cases.find(case_id);
  return found == cases.end() ? nullptr : &found->second;
}

std::string to_json(const HardwareCounters& counters) {
  Json json{{"origin", name_of(counters.origin)}, {"source", counters.source},
            {"passes", counters.passes},          {"refusal", counters.refusal},
            {"remedy", counters.remedy},          {"cases", Json::object()}};
  for (const auto& [id, launches] : counters.cases) {
    Json& list = json["cases"][id] = Json::array();
    for (const CounterReadings& readings : launches)
      list.push_back({{"kernel", readings.kernel}, {"values", readings.values}});
  }
  return dump_json(json);
}

Result<HardwareCounters> hardware_counters_from_json(std::string_view text) {
  return read_json(text, "counters of a GPU", [](const Json& json) {
    only_keys(json, {"origin", "source", "passes", "refusal", "remedy", "cases"});
    HardwareCounters counters;
    counters.origin = enum_at(json, "origin", CounterOrigin::file);
    counters.source = json.at("source");
    counters.passes = json.at("passes");
    counters.refusal = json.at("refusal");
    counters.remedy = json.at("remedy");
    for (const auto& [id, launches] : object_at(json, "cases").items()) {
      std::vector<CounterReadings>& list = counters.cases[id];
      for (const Json& one : launches)
        list.push_back(readings_of(one));
    }
    return counters;
  });
}

} // namespace kernevo
