// A calibrated GPU as a file of share/gpus.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/calibrate/figures.h"
#include "kernevo/model/gpu.h"

#include <string>

namespace kernevo::calibrate {

// What the file says of where its figures come from.
struct Provenance {
  std::string date;    // "2026-11-19"
  std::string device;  // "cuda:0 NVIDIA ..., driver 13.0 (580.65)"
  std::string limits;  // of what the driver does not tell: "as other GPUs of sm_80"
  std::string program; // its version; whoever writes the file says it
  std::uint64_t shots = 0;
};

// `gpu` has what the driver tells. A figure that was not found is left out; where the format cannot
// do without it, that is the error.
Result<std::string> gpu_file(const Gpu& gpu, const std::string& name, const Figures& figures,
                             const Provenance& provenance);

// A file name for a GPU's: "NVIDIA L40S" -> "nvidia_l40s.yaml".
std::string file_name_of(const std::string& gpu);

} // namespace kernevo::calibrate
