// The one place where a name becomes a device.
#pragma once

#include "kernevo/device/device.h"
#include "kernevo/device/device_name.h"
#include "kernevo/device/list_devices.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

// An input error for a name nothing here answers to; it names the devices there are.
Result<std::shared_ptr<Device>> open_device(const DeviceName& name);

// What a person asked for: a device by name, a GPU to model (`gpu`, short for virtual:GPU), or
// neither: then the first real GPU, or where there is none the virtual one the task is written for.
// A driver that plays a GPU counts as one only by name.
struct DeviceChoice {
  std::optional<std::string> device = {};
  std::string gpu = {};
};
Result<DeviceName> choose_device(const DeviceChoice& choice, const std::string& target_gpu);
Result<DeviceName> choose_device(const DeviceChoice& choice, const std::string& target_gpu,
                                 const std::vector<RealGpu>& real_gpus);

// With its companion, where it has no instruments.
Result<std::shared_ptr<Device>> open_device(const DeviceChoice& choice,
                                            const std::string& target_gpu);

// The virtual GPU that is most like it: by name, else by compute capability.
Result<Device::Companion> find_companion(const Gpu& gpu);

// The GPU of the tables that goes by such a name and has such a compute capability.
Result<std::optional<Gpu>> find_listed(const Gpu& gpu);

// One line where a GPU behind a driver is another than the task is written for; empty else.
std::string mismatch_of(const DeviceIdentity& device, const std::string& target_gpu);

} // namespace kernevo
