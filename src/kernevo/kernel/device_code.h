// The source of a kernel file made ready for nvcc, where host code stands beside it.
#pragma once

#include "kernevo/base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace kernevo {

struct DeviceCode {
  std::string text;
  std::map<std::string, std::string> kernels; // plain name -> name with its namespaces
  std::set<std::string> macros;               // what the source #defines
};

// In a kernel file a function or variable without __device__, __global__ and the like is the
// device's; for nvcc it would be the host's. Writes __device__ where it is meant and not said and
// takes __host__ away, so that no function of the source can run on the host. Whatever it cannot
// see through (brackets that do not nest, macros that declare things without saying __device__) is
// an input error. Conditionals must be resolved.
Result<DeviceCode> device_code(std::string_view source, const std::string& file = "",
                               int first_line = 1);

} // namespace kernevo
