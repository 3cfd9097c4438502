// The constants of the timing model that no data sheet gives. They were fitted to published
// measurements of real GPUs; docs/timing-model.md says to which, and how well others are met.
#pragma once

namespace kernevo {

struct Calibration {
  // Resources of one kind overlap almost freely (a norm with a high exponent); arithmetic and
  // memory instructions of the same warps overlap the better the more warps there are.
  double same_kind_exponent = 12;
  double overlap_per_warp = 0.7;   // exponent: 1 + this x warps of a scheduler
  double segment_exponent = 2.5;   // a stretch of code: throughput against latency of its warps
  double residence_exponent = 2.8; // many resident blocks: throughput of all, latency of one
  double cache_exponent = 2.5;     // the load-store unit against L2

  double loaded_l2_latency = 2.0;   // of L2 in use, over that of an idle one
  double loaded_dram_latency = 1.3; // of DRAM; waiting for its bandwidth comes on top
  double shared_store_factor = 1.8;
  double global_store_factor = 2.2;
  double issue_factor = 1.04; // cycles a warp scheduler needs for an instruction
  // Blocks that return at once (recorded on an RTX 2080 Ti): how long one holds its place, and how
  // soon a multiprocessor is given the next.
  double block_start_cycles = 420;
  double block_launch_cycles = 82;
  double launch_ns = 2500;
  double instruction_fetch_bytes_per_cycle = 12; // beyond the instruction cache
  double dram_efficiency = 0.90;
  double local_dram_efficiency = 0.65; // spills and stack arrays, scattered over pages
  double l2_capacity = 0.9;            // share of L2 that holds data again used
};

inline constexpr Calibration kCalibration{};

} // namespace kernevo
