// The device code of a candidate as it was judged, ready for nvcc.
#pragma once

#include "kernevo/extract/extraction.h"
#include "kernevo/kernel/device_code.h"

#include <string>

namespace kernevo::extract {

struct JudgedCode {
  std::string source; // what the judge compiled: the kernel file with its conditionals decided
  std::string architecture;
  DeviceCode device; // the same for nvcc
};

Result<JudgedCode> judged_code(const Extraction& extraction);

} // namespace kernevo::extract
