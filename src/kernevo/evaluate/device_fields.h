// Who ran or timed a kernel, in the JSON of a result. The GPU goes by its name: both sides read the
// same tables.
#pragma once

#include "kernevo/device/device.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/json_fields.h"

namespace kernevo {

inline Json device_to_json(const DeviceIdentity& device) {
  return {{"name", device.name}, {"gpu", device.gpu.name}, {"method", name_of(device.method)}};
}

inline DeviceIdentity device_from_json(const Json& json) {
  only_keys(json, {"name", "gpu", "method"});
  const auto method = json.at("method").get<std::string>();
  DeviceIdentity device;
  json.at("name").get_to(device.name);
  device.gpu = value_of(find_gpu(json.at("gpu").get<std::string>()));
  if (method == name_of(TimingMethod::measured))
    device.method = TimingMethod::measured;
  else if (method != name_of(TimingMethod::modelled))
    throw std::out_of_range("unknown method '" + method + "'");
  return device;
}

} // namespace kernevo
