// How a multiprocessor of one compute capability executes: lanes, rates, latencies.
#pragma once

#include <string>

namespace kernevo {

struct Architecture {
  int compute_capability = 0; // 80 for sm_80
  std::string source;

  // Lanes of a multiprocessor: threads an operation is done for in a cycle.
  double fp32_lanes = 0;
  double integer_multiply_lanes = 0;
  double integer_lanes = 0;
  double fp16_lanes = 0; // of instructions on pairs of halves
  double fp64_lanes = 0;
  double special_function_lanes = 0;
  double load_store_units = 0; // threads whose access is taken in a cycle

  // Bytes per cycle of a multiprocessor.
  double shared_bytes_per_clock = 0;
  double l1_bytes_per_clock = 0; // to registers
  double l2_bytes_per_clock = 0;

  // Cycles from issue to use.
  double shared_latency = 0;
  double l1_latency = 0;
  double l2_latency = 0;
  double dram_latency = 0;
  double constant_latency = 0;
  double special_function_latency = 0;
  double fp64_latency = 0;
  double tensor_latency = 0;

  double instruction_cache_kib = 0; // straight code beyond it is fetched from farther away

  double host_link_gbps = 0; // 1e9 bytes per second between host and GPU, one way
};

} // namespace kernevo
