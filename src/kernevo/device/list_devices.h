// What can run a kernel on this machine.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kernevo {

struct RealGpu {
  int ordinal = 0;
  std::string name;
  int compute_capability = 0;
  Bytes memory;
  std::string stand_in = {}; // what plays it; empty of a real one
};

struct DeviceList {
  std::vector<Gpu> virtual_gpus;
  std::map<std::string, std::filesystem::path> own; // of those, by name: a user's files
  std::vector<RealGpu> real_gpus;
  std::string driver; // "CUDA driver 13.0", or why there is none
};

// Looks for the CUDA driver library at run time; its absence is an answer, not an error.
Result<DeviceList> list_devices();

// "devices here: virtual:A100, ...": those open_device() opens, for messages.
std::string devices_here();

} // namespace kernevo
