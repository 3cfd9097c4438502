// The CUDA driver library, found and bound at run time. Only worker processes come here: the
// library starts threads and opens devices, and none of that survives a fork.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/cuda_api.h"
#include "kernevo/device/cuda_facts.h"

#include <string>

namespace kernevo {

class CudaDriver {
public:
  // Loads the library, binds and starts it. The errors say what is missing, too old or refused, and
  // the way round it.
  static Result<CudaDriver> open(const std::string& library);

  const driver::Functions& calls() const { return calls_; }
  int version() const { return version_; } // 13020 = CUDA 13.2
  // "virtual A100, kernevo 0.1.0" of a library that only looks like a driver; empty of a real one.
  const std::string& stand_in() const { return stand_in_; }
  Result<int> count() const;
  Result<CudaFacts> facts(int ordinal) const;

  // "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string describe(driver::Status status) const;
  // The trouble of a call, as an error of the machine's.
  tl::unexpected<Error> trouble(driver::Status status, const std::string& doing) const;

private:
  driver::Functions calls_;
  int version_ = 0;
  std::string stand_in_;
};

// The GPU itself is gone: nothing that this program does brings it back, and nothing of it is a
// kernel's fault.
Error lost_device(const std::string& device, const std::string& how);

} // namespace kernevo
