#include "kernevo/evaluate/result_json.h"

#include "kernevo/evaluate/device_fields.h"
#include "kernevo/model/json.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/occupancy_fields.h"
#include "kernevo/model/verdict_fields.h"

namespace kernevo {
namespace {

Json prediction_to_json(const Prediction& p) {
  Json bounds = Json::array();
  for (const TimingTerm& term : p.bounds)
    bounds.push_back({{"name", term.name}, {"time_ns", term.time.value}});
  return {{"kernel", p.kernel},
          {"time_ns", p.time.value},
          {"error", p.error},
          {"bounds", std::move(bounds)},
          {"occupancy", occupancy_to_json(p.occupancy)},
          {"waves", p.waves},
          {"traffic_bytes",
           {{"l1", p.traffic.l1_bytes},
            {"l2_read", p.traffic.l2_read_bytes},
            {"l2_write", p.traffic.l2_write_bytes},
            {"dram_read", p.traffic.dram_read_bytes},
            {"dram_write", p.traffic.dram_write_bytes}}},
          {"from_machine_code", p.from_machine_code},
          {"unexplained", p.unexplained}};
}

MemoryTraffic traffic_of(const Json& json) {
  only_keys(json, {"l1", "l2_read", "l2_write", "dram_read", "dram_write"});
  return {amount_at(json, "l1"), amount_at(json, "l2_read"), amount_at(json, "l2_write"),
          amount_at(json, "dram_read"), amount_at(json, "dram_write")};
}

Prediction prediction_of(const Json& json) {
  only_keys(json, {"kernel", "time_ns", "error", "bounds", "occupancy", "waves", "traffic_bytes",
                   "from_machine_code", "unexplained"});
  Prediction p;
  p.kernel = json.at("kernel");
  p.time = Nanoseconds{amount_at(json, "time_ns")};
  p.error = amount_at(json, "error");
  for (const Json& term : list_at(json, "bounds")) {
    only_keys(term, {"name", "time_ns"});
    p.bounds.push_back({term.at("name"), Nanoseconds{amount_at(term, "time_ns")}});
  }
  if (p.bounds.empty())
    refuse("a prediction names what bounds it");
  p.occupancy = occupancy_of(json.at("occupancy"));
  p.waves = amount_at(json, "waves");
  p.traffic = traffic_of(json.at("traffic_bytes"));
  p.from_machine_code = json.at("from_machine_code");
  p.unexplained = json.at("unexplained");
  return p;
}

Json case_to_json(const CaseBench& bench) {
  Json launches = Json::array();
  for (const LaunchBench& launch : bench.launches)
    launches.push_back({{"counts", Json::parse(to_json(launch.counts))},
                        {"resources", resources_to_json(launch.resources)},
                        {"prediction", prediction_to_json(launch.prediction)}});
  return {{"case", bench.case_id},
          {"weight", bench.weight},
          {"timing", Json::parse(to_json(bench.timing))},
          {"launches", std::move(launches)}};
}

CaseBench case_of(const Json& json) {
  only_keys(json, {"case", "weight", "timing", "launches"});
  CaseBench bench;
  bench.case_id = json.at("case");
  bench.weight = amount_at(json, "weight");
  bench.timing = value_of(timing_from_json(dump_json(json.at("timing"))));
  for (const Json& launch : list_at(json, "launches")) {
    only_keys(launch, {"counts", "resources", "prediction"});
    bench.launches.push_back({value_of(launch_counts_from_json(dump_json(launch.at("counts")))),
                              resources_of(launch.at("resources")), std::nullopt,
                              prediction_of(launch.at("prediction"))});
  }
  return bench;
}

BenchResult result_of(const Json& json) {
  only_keys(json, {"build", "device", "parameters", "cases", "fault", "summary", "out_of_time",
                   "stopped", "objective_ns"});
  BenchResult result;
  result.build = value_of(build_from_json(dump_json(json.at("build"))));
  result.device = device_from_json(json.at("device"));
  result.parameters = json.at("parameters").get<ParameterValues>();
  for (const Json& one : list_at(json, "cases"))
    result.cases.push_back(case_of(one));
  result.fault = nullable_enum_at(json, "fault", FaultKind::unproven);
  result.summary = json.at("summary");
  result.out_of_time = json.at("out_of_time");
  result.stopped = json.at("stopped");
  if (const auto objective = get_optional<double>(json, "objective_ns"))
    result.objective = Nanoseconds{*objective};
  if (result.objective && (result.fault || result.stopped))
    refuse("what has a fault or was stopped has no objective");
  if (result.fault && !result.cases.empty())
    refuse("what has a fault has no times");
  return result;
}

} // namespace

std::string to_json(const BenchResult& result) {
  Json json{{"build", Json::parse(to_json(result.build))},
            {"device", device_to_json(result.device)},
            {"parameters", result.parameters},
            {"cases", Json::array()},
            {"fault", result.fault ? Json(name_of(*result.fault)) : Json(nullptr)},
            {"summary", result.summary},
            {"out_of_time", result.out_of_time},
            {"stopped", result.stopped}};
  for (const CaseBench& bench : result.cases)
    json["cases"].push_back(case_to_json(bench));
  json["objective_ns"] = result.objective ? Json(result.objective->value) : Json(nullptr);
  return dump_json(json);
}

Result<BenchResult> bench_result_from_json(std::string_view text) {
  return read_json(text, "bench result", result_of);
}

} // namespace kernevo
