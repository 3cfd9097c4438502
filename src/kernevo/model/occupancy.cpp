#include "kernevo/model/occupancy.h"

#include "kernevo/model/occupancy_fields.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kernevo {
namespace {

constexpr int kWarpSize = 32;
constexpr int kUnlimited = std::numeric_limits<int>::max();

template <class T> constexpr T round_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

Result<int> blocks_by_registers(const Gpu& gpu, int warps, int registers_per_thread) {
  if (registers_per_thread > gpu.max_registers_per_thread)
    return fail(ErrorCode::input,
                fmt::format("a thread uses {} registers, the {} allows {}", registers_per_thread,
                            gpu.name, gpu.max_registers_per_thread),
                std::nullopt, "keep fewer values live, or compile with a register limit");
  if (registers_per_thread == 0)
    return kUnlimited;
  const int per_warp = round_up(registers_per_thread * kWarpSize, gpu.register_allocation_unit);
  // The launch check counts a whole row of warps, one in each partition of the multiprocessor.
  const int counted = per_warp * round_up(warps, gpu.warp_allocation_granularity);
  if (counted > gpu.registers_per_block)
    return fail(ErrorCode::input,
                fmt::format("a block of {} warps with {} registers a thread takes {} registers, "
                            "the {} allows {} per block",
                            warps, registers_per_thread, counted, gpu.name,
                            gpu.registers_per_block),
                std::nullopt, "use fewer threads per block, or compile with a register limit");
  // Each partition has its own register file and holds whole warps.
  const int per_partition = gpu.registers_per_multiprocessor / gpu.warp_allocation_granularity;
  return per_partition / per_warp * gpu.warp_allocation_granularity / warps;
}

Result<int> blocks_by_shared_memory(const Gpu& gpu, Bytes shared) {
  if (shared > gpu.shared_per_block_optin)
    return fail(ErrorCode::input,
                fmt::format("a block uses {} bytes of shared memory, the {} allows {}",
                            shared.value, gpu.name, gpu.shared_per_block_optin.value),
                std::nullopt, "use smaller tiles or fewer pipeline stages");
  const std::uint64_t allocated = round_up(shared.value + gpu.shared_reserved_per_block.value,
                                           gpu.shared_allocation_unit.value);
  if (allocated == 0)
    return kUnlimited;
  return static_cast<int>(gpu.shared_per_multiprocessor.value / allocated);
}

} // namespace

std::string_view name_of(OccupancyLimiter limiter) {
  switch (limiter) {
  case OccupancyLimiter::threads: return "threads";
  case OccupancyLimiter::registers: return "registers";
  case OccupancyLimiter::shared_memory: return "shared_memory";
  case OccupancyLimiter::blocks: return "blocks";
  }
  return "unknown";
}

Result<Occupancy> compute_occupancy(const Gpu& gpu, int threads_per_block, int registers_per_thread,
                                    Bytes shared_per_block) {
  if (threads_per_block < 1 || threads_per_block > gpu.max_threads_per_block)
    return fail(ErrorCode::input,
                fmt::format("a block has {} threads, the {} allows 1 to {}", threads_per_block,
                            gpu.name, gpu.max_threads_per_block),
                std::nullopt, "change the block size in the launch");
  if (registers_per_thread < 0)
    return fail(ErrorCode::input,
                fmt::format("a thread cannot use {} registers", registers_per_thread));
  const int warps = (threads_per_block + kWarpSize - 1) / kWarpSize;
  const int warps_available = gpu.max_threads_per_multiprocessor / kWarpSize;
  KERNEVO_TRY(by_registers, blocks_by_registers(gpu, warps, registers_per_thread));
  KERNEVO_TRY(by_shared_memory, blocks_by_shared_memory(gpu, shared_per_block));

  // On a tie the first one is named: threads at their limit mean full occupancy.
  const std::array<std::pair<int, OccupancyLimiter>, 4> limits = {{
      {warps_available / warps, OccupancyLimiter::threads},
      {by_registers, OccupancyLimiter::registers},
      {by_shared_memory, OccupancyLimiter::shared_memory},
      {gpu.max_blocks_per_multiprocessor, OccupancyLimiter::blocks},
  }};
  const auto& lowest = *std::min_element(
      limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (lowest.first < 1)
    return fail(ErrorCode::input,
                fmt::format("not one block of {} threads fits on a multiprocessor of the {} ({})",
                            threads_per_block, gpu.name, name_of(lowest.second)),
                std::nullopt, "use fewer threads per block, or compile with a register limit");
  Occupancy result;
  result.blocks_per_multiprocessor = lowest.first;
  result.active_warps = lowest.first * warps;
  result.fraction = static_cast<double>(result.active_warps) / warps_available;
  result.limiter = lowest.second;
  return result;
}

Json occupancy_to_json(const Occupancy& occupancy) {
  return {{"blocks_per_multiprocessor", occupancy.blocks_per_multiprocessor},
          {"active_warps", occupancy.active_warps},
          {"fraction", occupancy.fraction},
          {"limiter", name_of(occupancy.limiter)}};
}

Occupancy occupancy_of(const Json& json) {
  only_keys(json, {"blocks_per_multiprocessor", "active_warps", "fraction", "limiter"});
  const Occupancy occupancy{count_at(json, "blocks_per_multiprocessor"),
                            count_at(json, "active_warps"), amount_at(json, "fraction"),
                            enum_at(json, "limiter", OccupancyLimiter::blocks)};
  if (occupancy.fraction > 1)
    refuse("an occupancy is at most 1");
  return occupancy;
}

} // namespace kernevo
