#include "kernevo/cli/profile_report.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/predict/counters.h"

namespace kernevo::cli {
namespace {

Json counters_json(const LaunchCounts& counts) {
  const Counters counters = counters_of(counts);
  Json json{{"blocks", counters.blocks},
            {"blocks_counted", counters.blocks_counted},
            {"sampling_error", counters.sampling_error},
            {"values", Json::object()}};
  for (const Counter& c : counters.all)
    json["values"][c.name] = {{"value", c.value}, {"unit", c.unit}, {"modelled", c.modelled}};
  return json;
}

Json metrics_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics.all()) {
    json[name] = {{"value", value}, {"unit", find_metric(name)->unit}};
    if (metrics.have_sources())
      json[name]["source"] = metrics.sources(name);
  }
  return json;
}

Json roofline_json(const RooflinePoint& point) {
  Json json{{"operation", point.instructions ? "thread instruction" : "floating-point operation"},
            {"operations", point.operations},
            {"operations_per_second", point.rate},
            {"dram_bytes", point.dram_bytes},
            {"l2_bytes", point.l2_bytes},
            {"dram_bytes_per_second", point.dram_rate}};
  put_optional(json, "l2_bytes_per_second", point.l2_rate);
  json["ceiling"] = {{"unit", point.ceiling.unit}, {"operations_per_second", point.ceiling.rate}};
  json["unused_ceiling"] = nullptr;
  if (point.unused)
    json["unused_ceiling"] = {{"unit", point.unused->unit},
                              {"operations_per_second", point.unused->rate}};
  return json;
}

Json lines_json(const std::vector<SourceLine>& lines) {
  Json json = Json::array();
  for (const SourceLine& line : lines)
    json.push_back({{"file", line.file},
                    {"line", line.line},
                    {"weight", line.weight},
                    {"issue_share", line.issue_share},
                    {"lanes_active", line.lanes_active},
                    {"requests", line.memory.requests},
                    {"sectors", line.memory.sectors},
                    {"ideal_sectors", line.memory.ideal_sectors},
                    {"sector_share", line.sector_share},
                    {"shared_requests", line.shared.requests},
                    {"wavefronts", line.shared.wavefronts},
                    {"ideal_wavefronts", line.shared.ideal_wavefronts},
                    {"wavefront_share", line.wavefront_share},
                    {"atomic_updates", line.atomic_updates}});
  return json;
}

Json launch_json(const LaunchBench& launch, const Explanation& explanation,
                 const CounterReadings* readings) {
  const Prediction& p = launch.prediction;
  Json json{{"kernel", p.kernel},
            {"time_ns", p.time.value},
            {"error", p.error},
            {"from_machine_code", p.from_machine_code},
            {"occupancy",
             {{"fraction", p.occupancy.fraction},
              {"blocks_per_multiprocessor", p.occupancy.blocks_per_multiprocessor},
              {"limiter", name_of(p.occupancy.limiter)}}},
            {"waves", p.waves},
            {"bounds", Json::array()}};
  for (const TimingTerm& term : p.bounds)
    json["bounds"].push_back(
        {{"name", term.name}, {"time_ns", term.time.value}, {"share", p.share_of(term.name)}});
  json["roofline"] = roofline_json(explanation.roofline);
  json["metrics"] = metrics_json(explanation.metrics);
  json["counters"] = counters_json(launch.counts);
  if (readings != nullptr)
    json["hardware_counters"] = readings->values;
  json["source_lines"] = lines_json(explanation.lines);
  json["bottleneck"] = Json::parse(to_json(explanation.bottleneck));
  return json;
}

} // namespace

std::string profile_json(const ProfileReport& report) {
  const BenchResult& result = report.result;
  Json json{{"task", report.task},
            {"kernel", report.kernel},
            {"device", result.device.name},
            {"parameters", result.parameters},
            {"objective_ns", result.objective->value},
            {"cases", Json::array()}};
  if (report.hardware != nullptr) {
    const HardwareCounters& hardware = *report.hardware;
    json["counted_by"] = {{"origin", name_of(hardware.origin)}, {"source", hardware.source}};
    if (!hardware.refusal.empty())
      json["counted_by"].update({{"refused", hardware.refusal}, {"remedy", hardware.remedy}});
    else if (hardware.passes > 0)
      json["counted_by"]["passes"] = hardware.passes;
  }
  for (std::size_t c = 0; c < result.cases.size(); ++c) {
    const CaseBench& bench = result.cases[c];
    Json one{{"case", bench.case_id},
             {"timing", Json::parse(to_json(bench.timing))},
             {"launches", Json::array()}};
    const auto* readings =
        report.hardware == nullptr ? nullptr : report.hardware->find(bench.case_id);
    for (std::size_t i = 0; i < bench.launches.size(); ++i)
      one["launches"].push_back(launch_json(bench.launches[i], report.explanations[c][i],
                                            readings == nullptr ? nullptr : &readings->at(i)));
    json["cases"].push_back(std::move(one));
  }
  return dump_json(json, 2);
}

} // namespace kernevo::cli
