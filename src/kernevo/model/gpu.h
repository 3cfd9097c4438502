// A named GPU: what it can hold (limits) and what it can do (rates).
#pragma once

#include "kernevo/base/units.h"
#include "kernevo/model/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct Gpu {
  std::string name;                 // "A100"
  std::vector<std::string> aliases; // "A100-SXM4-40GB"
  int compute_capability = 0;       // 80 for sm_80

  // Limits per multiprocessor and per block.
  int multiprocessors = 0;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int registers_per_block = 0;
  int max_registers_per_thread = 0;
  int register_allocation_unit = 0; // registers, granted per warp
  int warp_allocation_granularity = 0;
  Bytes shared_per_multiprocessor;
  Bytes shared_per_block;       // without opting in
  Bytes shared_per_block_optin; // the most a launch may ask for
  Bytes shared_reserved_per_block;
  Bytes shared_allocation_unit;
  Bytes memory;
  Bytes l1_and_shared; // of a multiprocessor: one memory, divided between the two
  Bytes l2_cache;

  // Rates at boost clock. Absent where the GPU has no such unit or no public figure exists.
  double clock_ghz = 0;
  // The clock kernels run at in practice, where measurements tell; else the boost clock.
  std::optional<double> sustained_clock_ghz;
  double dram_gbps = 0;                     // 1e9 bytes per second
  std::optional<double> l2_bytes_per_clock; // to all multiprocessors together
  std::optional<double> fp32_tflops;
  std::optional<double> fp64_tflops;
  std::optional<double> fp16_tflops;        // outside tensor cores
  std::optional<double> tensor_fp16_tflops; // dense, fp32 accumulation; bf16 alike
  std::optional<double> tensor_tf32_tflops;
  std::optional<double> tensor_fp64_tflops;
  std::optional<double> tensor_int8_tops;
  std::string source; // where the figures come from

  // The best dense rate the GPU reaches for this element type, tensor cores included where using
  // them keeps the precision (never TF32 for float32). Operations per second.
  double peak_operations_per_second(DType dtype) const;
};

} // namespace kernevo
