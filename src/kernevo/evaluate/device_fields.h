// Who ran or timed a kernel, in the JSON of a result. The GPU goes by its name: both sides read the
// same tables.
#pragma once

#include "kernevo/device/device.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/json_fields.h"

#include <string>
#include <utility>

namespace kernevo {

inline Json device_to_json(const DeviceIdentity& device) {
  Json json{{"name", device.name}, {"gpu", device.gpu.name}, {"method", name_of(device.method)}};
  for (const auto& [key, text] : {std::pair{"model", &device.model},
                                  {"driver", &device.driver},
                                  {"stand_in", &device.stand_in}})
    if (!text->empty())
      json[key] = *text;
  return json;
}

inline DeviceIdentity device_from_json(const Json& json) {
  only_keys(json, {"name", "gpu", "method", "model", "driver", "stand_in"});
  DeviceIdentity device;
  json.at("name").get_to(device.name);
  device.gpu = value_of(find_gpu(json.at("gpu").get<std::string>()));
  device.method = enum_at(json, "method", TimingMethod::stand_in);
  device.model = json.value("model", std::string());
  device.driver = json.value("driver", std::string());
  device.stand_in = json.value("stand_in", std::string());
  return device;
}

} // namespace kernevo
