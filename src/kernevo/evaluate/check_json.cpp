#include "kernevo/evaluate/result_json.h"

#include "kernevo/evaluate/device_fields.h"
#include "kernevo/model/json.h"
#include "kernevo/model/loaded_code_fields.h"
#include "kernevo/model/occupancy_fields.h"

namespace kernevo {

std::string to_json(const CheckResult& result) {
  Json occupancy = Json::array();
  for (const LaunchOccupancy& launch : result.occupancy)
    occupancy.push_back(
        {{"kernel", launch.kernel}, {"occupancy", occupancy_to_json(launch.occupancy)}});
  Json json{{"verdict", Json::parse(to_json(result.verdict))},
            {"build", Json::parse(to_json(result.build))},
            {"occupancy", std::move(occupancy)},
            {"device", device_to_json(result.device)},
            {"parameters", result.parameters},
            {"seed", result.seed ? Json(*result.seed) : Json(nullptr)},
            {"wall_seconds", result.wall_seconds ? Json(*result.wall_seconds) : Json(nullptr)}};
  put_loaded_code(json, result.code);
  return dump_json(json);
}

Result<CheckResult> check_result_from_json(std::string_view text) {
  return read_json(text, "check result", [](const Json& json) {
    only_keys(json, {"verdict", "build", "occupancy", "device", "code", "parameters", "seed",
                     "wall_seconds"});
    CheckResult result;
    result.verdict = value_of(verdict_from_json(dump_json(json.at("verdict"))));
    result.build = value_of(build_from_json(dump_json(json.at("build"))));
    for (const Json& launch : list_at(json, "occupancy")) {
      only_keys(launch, {"kernel", "occupancy"});
      result.occupancy.push_back({launch.at("kernel"), occupancy_of(launch.at("occupancy"))});
    }
    result.device = device_from_json(json.at("device"));
    result.code = get_loaded_code(json);
    result.parameters = json.at("parameters").get<ParameterValues>();
    if (!json.at("seed").is_null())
      result.seed = json.at("seed").get<std::uint64_t>();
    if (!json.at("wall_seconds").is_null())
      result.wall_seconds = amount_at(json, "wall_seconds");
    return result;
  });
}

} // namespace kernevo
