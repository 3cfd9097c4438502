// Exact counts of a launch's accesses to global memory, and of its atomics.
#pragma once

#include <cstdint>

namespace kernevo::vgpu {

struct MemoryCounters {
  std::uint64_t global_load_requests = 0; // warp instructions with at least one active lane
  std::uint64_t global_load_sectors = 0;  // distinct 32-byte sectors, summed over requests
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t atomic_lanes = 0; // of any space

  MemoryCounters& operator+=(const MemoryCounters& other) {
    global_load_requests += other.global_load_requests;
    global_load_sectors += other.global_load_sectors;
    global_store_requests += other.global_store_requests;
    global_store_sectors += other.global_store_sectors;
    atomic_lanes += other.atomic_lanes;
    return *this;
  }
  bool operator==(const MemoryCounters&) const = default;
};

} // namespace kernevo::vgpu
