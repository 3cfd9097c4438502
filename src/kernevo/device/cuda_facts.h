// What a driver says about one of its GPUs.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/units.h"
#include "kernevo/model/gpu.h"

#include <string>
#include <vector>

namespace kernevo {

struct CudaFacts {
  int ordinal = 0;
  std::string name;     // "NVIDIA A100-SXM4-40GB", of a part "... MIG 1g.5gb"
  std::string uuid;     // "GPU-8a7c...", of a part of a GPU "MIG-..."
  std::string bus;      // "0000:3b:00.0"
  std::string stand_in; // empty of a real GPU
  int driver_version = 0;
  int compute_capability = 0;
  Bytes memory;
  // As attributes of the device have them; 0 = not told.
  int multiprocessors = 0;
  int threads_per_block = 0;
  int threads_per_multiprocessor = 0;
  int blocks_per_multiprocessor = 0;
  int registers_per_block = 0;
  int registers_per_multiprocessor = 0;
  int shared_per_block = 0;
  int shared_per_block_optin = 0;
  int shared_per_multiprocessor = 0;
  int shared_reserved_per_block = 0;
  int l2_bytes = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;

  bool operator==(const CudaFacts&) const = default;
};

// The record of such a GPU: what share/gpus says of its name, with its own limits in their place.
// A GPU that is not listed is scaled from one that is and is its next of kin.
Result<Gpu> gpu_of(const CudaFacts& facts);

// "13.2" of 13020.
std::string cuda_version(int version);

// What the worker found: the library's word on itself and all its GPUs, or why there are none.
struct CudaListing {
  int driver_version = 0;
  std::string stand_in;
  std::vector<CudaFacts> gpus;
};

} // namespace kernevo
