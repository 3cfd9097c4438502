// How people name what runs kernels: "virtual:A100" (or "A100" for short), "cuda:0",
// "remote:http://host:8080".
#pragma once

#include "kernevo/base/result.h"

#include <string>
#include <string_view>

namespace kernevo {

struct DeviceName {
  enum class Kind { virtual_gpu, cuda, remote };
  Kind kind = Kind::virtual_gpu;
  std::string gpu; // of a virtual device, as in share/gpus or an alias
  int ordinal = 0; // of a CUDA device
  std::string url; // of a remote one

  static DeviceName of_virtual(std::string gpu) {
    return {Kind::virtual_gpu, std::move(gpu), 0, {}};
  }
  bool operator==(const DeviceName&) const = default;
};

// A usage error names the forms and the devices there are. Whether there is such a device is for
// open_device().
Result<DeviceName> parse_device_name(std::string_view text);
std::string to_text(const DeviceName& name);

} // namespace kernevo
