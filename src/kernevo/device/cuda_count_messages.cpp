#include "kernevo/device/cuda_count_messages.h"

#include "kernevo/base/printable.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

CountedRun counted_of(const Json& json) {
  only_keys(json, {"launches", "passes", "fault", "refusal", "remedy"});
  CountedRun run;
  for (const Json& one : list_at(json, "launches")) {
    CounterReadings& readings = run.launches.emplace_back();
    for (const auto& [name, value] : one.items())
      readings.values[printable(name)] = value.get<double>();
  }
  run.passes = json.at("passes");
  run.refusal = printable(json.at("refusal").get<std::string>());
  run.remedy = printable(json.at("remedy").get<std::string>());
  if (const auto fault = get_optional<std::string>(json, "fault")) {
    auto finding = finding_from_json(*fault);
    if (!finding)
      refuse(finding.error().message);
    finding->message = printable(finding->message);
    run.fault = std::move(*finding);
  }
  return run;
}

} // namespace

std::string encode(const CudaCountMessage& message) {
  return dump_json(Json{{"kind", "count"}, {"counters", message.counters}}) + '\n' +
         encode(message.run);
}

Result<CudaCountMessage> decode_count(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  CudaCountMessage message;
  KERNEVO_CHECK(read_json(text.substr(0, end), "count message", [&](const Json& json) {
    only_keys(json, {"kind", "counters"});
    json.at("counters").get_to(message.counters);
    return true;
  }));
  KERNEVO_TRY(run, decode_run(text.substr(std::min(end + 1, text.size()))));
  message.run = std::move(run);
  return message;
}

std::string encode_counted(const CountedRun& run) {
  Json json{{"launches", Json::array()},
            {"passes", run.passes},
            {"fault", nullptr},
            {"refusal", run.refusal},
            {"remedy", run.remedy}};
  for (const CounterReadings& readings : run.launches)
    json["launches"].push_back(Json(readings.values));
  if (run.fault)
    json["fault"] = to_json(*run.fault);
  return dump_json(json);
}

Result<CountedRun> decode_counted(std::string_view text, const RunRequest& request) {
  auto run = read_json(text, "the worker's counters", counted_of);
  if (!run)
    return fail(ErrorCode::infrastructure, run.error().message);
  const bool counted = !run->fault && run->refusal.empty();
  if (counted && run->launches.size() != request.plan.launches.size())
    return fail(ErrorCode::infrastructure,
                fmt::format("the worker counted {} launches of {}", run->launches.size(),
                            request.plan.launches.size()));
  if (!counted)
    run->launches.clear();
  for (std::size_t i = 0; i < run->launches.size(); ++i)
    run->launches[i].kernel = request.plan.launches[i].kernel;
  return std::move(*run);
}

} // namespace kernevo
