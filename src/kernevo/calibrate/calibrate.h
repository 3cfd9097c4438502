// What a GPU can do, found by running micro-kernels on it.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/calibrate/gpu_file.h"
#include "kernevo/device/device.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kernevo::calibrate {

struct Calibration {
  DeviceIdentity device;
  std::optional<LoadedCode> code;
  std::optional<Gpu> listed; // the GPU of the tables that it is
  bool architecture_listed = false;
  Figures figures;
  Provenance provenance;
};

// Told before each probe.
using Progress = std::function<void(std::string_view probe, std::size_t done, std::size_t of)>;

// An error where the device does not measure, cannot run the kernels, or is never quiet.
Result<Calibration> calibrate(Device& device, const Progress& progress);

} // namespace kernevo::calibrate
