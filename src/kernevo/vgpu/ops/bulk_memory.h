// What all bulk copies share: runs of bytes through the one door to memory, and the barrier that
// hears of their end.
//
// When a bulk copy happens: the virtual GPU moves the data and signals the barrier when the copy is
// issued, which is one of the orders the hardware may choose. A copy that completes through a
// barrier publishes its writes there, so reading the destination without waiting is a race the
// sanitizer reports. Groups (commit_group, wait_group) have nothing left to wait for.
#pragma once

#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/semantics/bulk_reduce.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernevo::vgpu::ops {

inline constexpr std::uint32_t kBulkUnit = 16;

// One lane's side of a copy.
struct BulkPlace {
  ptx::Space space = ptx::Space::global;
  bool cluster = false; // .shared::cluster
  std::uint64_t address = 0;
};

// False after a fault.
bool read_run(Warp& warp, const Op& op, int lane, const BulkPlace& from, std::uint32_t bytes,
              std::byte* to);
bool write_run(Warp& warp, const Op& op, int lane, const BulkPlace& to, std::uint32_t bytes,
               const std::byte* from);
// Combines elements in memory with those that arrive, each one atomically.
bool reduce_run(Warp& warp, const Op& op, int lane, const BulkPlace& to, std::uint32_t bytes,
                const std::byte* from, semantics::BulkReduction reduction, TensorType type);

// The same place in the shared memory of each block of the mask (.multicast::cluster).
std::vector<std::uint64_t> multicast(std::uint64_t address, std::uint32_t mask);

// Raises a fault unless the value is a multiple of the unit.
bool check_multiple(Warp& warp, const Op& op, int lane, const char* what, std::uint64_t value,
                    std::uint32_t unit);

} // namespace kernevo::vgpu::ops
