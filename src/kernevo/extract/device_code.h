// The source of a kernel file made ready for nvcc, where host code stands beside it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace kernevo::extract {

struct DeviceCode {
  std::string text;
  std::map<std::string, std::string> kernels; // plain name -> name with its namespaces
  std::set<std::string> macros;               // what the source #defines
};

// In a kernel file a function or variable without __device__, __global__ and the like is the
// device's; for nvcc it would be the host's. Writes __device__ where it is meant and not said.
// Functions that macros make are not seen.
DeviceCode device_code(std::string_view source);

} // namespace kernevo::extract
