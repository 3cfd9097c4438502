// The one place where a name becomes a device.
#pragma once

#include "kernevo/device/device.h"
#include "kernevo/device/device_name.h"

#include <memory>
#include <optional>
#include <string>

namespace kernevo {

// An input error for a name nothing here answers to; it names the devices there are.
Result<std::shared_ptr<Device>> open_device(const DeviceName& name);

// What a person asked for: a device by name, a GPU to model (`gpu`, short for virtual:GPU), or
// neither: then the virtual GPU the task is written for.
struct DeviceChoice {
  std::optional<std::string> device = {};
  std::string gpu = {};
};
Result<DeviceName> choose_device(const DeviceChoice& choice, const std::string& target_gpu);
Result<std::shared_ptr<Device>> open_device(const DeviceChoice& choice,
                                            const std::string& target_gpu);

} // namespace kernevo
