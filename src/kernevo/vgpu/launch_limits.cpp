// What the named GPU allows a launch.
#include "kernevo/vgpu/launch.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace kernevo::vgpu {
namespace {

constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxGridYz = 65535;
constexpr std::uint32_t kMaxGridX = 0x7FFF'FFFF;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

// Registers a block takes, with the granularity at which they are handed out.
std::uint64_t registers_of(const LaunchState& launch) {
  if (!launch.config->registers_per_thread)
    return 0;
  const Gpu& gpu = *launch.gpu;
  const std::uint64_t warps =
      round_up(launch.warps_per_block, static_cast<std::uint64_t>(gpu.warp_allocation_granularity));
  const auto per_thread = static_cast<std::uint64_t>(*launch.config->registers_per_thread);
  return warps *
         round_up(per_thread * kWarpSize, static_cast<std::uint64_t>(gpu.register_allocation_unit));
}

std::string check(const LaunchState& launch) {
  const Gpu& gpu = *launch.gpu;
  const LaunchConfig& config = *launch.config;
  const ptx::Function& kernel = *launch.kernel->function;
  for (const std::uint32_t extent : config.grid)
    if (extent == 0)
      return "a grid extent is zero";
  for (const std::uint32_t extent : config.block)
    if (extent == 0)
      return "a block extent is zero";
  const std::uint64_t threads = std::uint64_t{config.block[0]} * config.block[1] * config.block[2];
  if (config.block[0] > static_cast<std::uint64_t>(gpu.max_threads_per_block) ||
      config.block[1] > static_cast<std::uint64_t>(gpu.max_threads_per_block) ||
      threads > static_cast<std::uint64_t>(gpu.max_threads_per_block))
    return fmt::format("a block of {}x{}x{} = {} threads, the {} allows {}", config.block[0],
                       config.block[1], config.block[2], threads, gpu.name,
                       gpu.max_threads_per_block);
  if (config.block[2] > kMaxBlockZ)
    return fmt::format("a block {} deep in z, the limit is {}", config.block[2], kMaxBlockZ);
  if (config.grid[0] > kMaxGridX || config.grid[1] > kMaxGridYz || config.grid[2] > kMaxGridYz)
    return fmt::format("a grid of {}x{}x{} blocks, the limit is {}x{}x{}", config.grid[0],
                       config.grid[1], config.grid[2], kMaxGridX, kMaxGridYz, kMaxGridYz);
  if (std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2] >
      std::numeric_limits<std::uint32_t>::max())
    return fmt::format("a grid of {}x{}x{} blocks, more than the virtual GPU numbers",
                       config.grid[0], config.grid[1], config.grid[2]);
  if (kernel.max_threads) {
    const auto& most = *kernel.max_threads;
    const std::uint64_t bound =
        std::uint64_t{most[0]} * std::max(most[1], 1U) * std::max(most[2], 1U);
    if (threads > bound)
      return fmt::format("a block of {} threads, the kernel was compiled for at most {} "
                         "(__launch_bounds__)",
                         threads, bound);
  }
  if (kernel.required_threads) {
    const auto& need = *kernel.required_threads;
    if (config.block[0] != need[0] || config.block[1] != std::max(need[1], 1U) ||
        config.block[2] != std::max(need[2], 1U))
      return fmt::format("a block of {}x{}x{} threads, the kernel requires exactly {}x{}x{}",
                         config.block[0], config.block[1], config.block[2], need[0],
                         std::max(need[1], 1U), std::max(need[2], 1U));
  }
  const auto fixed = gpu.shared_per_block.value;
  const auto most = gpu.shared_per_block_optin.value;
  if (launch.shared.static_bytes > fixed)
    return fmt::format("{} bytes of static shared memory, the {} allows {} (more only as dynamic "
                       "shared memory)",
                       launch.shared.static_bytes, gpu.name, fixed);
  if (launch.shared_bytes > most)
    return fmt::format("{} bytes of shared memory ({} static, {} dynamic), the {} allows {}",
                       launch.shared_bytes, launch.shared.static_bytes, config.dynamic_shared,
                       gpu.name, most);
  if (registers_of(launch) > static_cast<std::uint64_t>(gpu.registers_per_block))
    return fmt::format(
        "{} threads with {} registers each take {} registers, the {} has {} for a block", threads,
        *config.registers_per_thread, registers_of(launch), gpu.name, gpu.registers_per_block);
  const std::uint64_t resident = resident_limit(launch);
  if (config.cooperative && launch.grid_blocks > resident)
    return fmt::format("a cooperative grid of {} blocks, the {} can hold {} at once",
                       launch.grid_blocks, gpu.name, resident);
  for (const std::uint64_t block : config.only_blocks)
    if (block >= launch.grid_blocks)
      return fmt::format("block {} of a grid of {}", block, launch.grid_blocks);
  return "";
}

} // namespace

std::uint64_t resident_limit(const LaunchState& launch) {
  const Gpu& gpu = *launch.gpu;
  auto fit = [](std::uint64_t have, std::uint64_t need) {
    return need == 0 ? std::numeric_limits<std::uint64_t>::max() : have / need;
  };
  const std::uint64_t shared = round_up(launch.shared_bytes + gpu.shared_reserved_per_block.value,
                                        gpu.shared_allocation_unit.value);
  const std::uint64_t per_multiprocessor = std::min(
      {static_cast<std::uint64_t>(gpu.max_blocks_per_multiprocessor),
       fit(static_cast<std::uint64_t>(gpu.max_threads_per_multiprocessor),
           std::uint64_t{launch.warps_per_block} * kWarpSize),
       fit(static_cast<std::uint64_t>(gpu.registers_per_multiprocessor), registers_of(launch)),
       fit(gpu.shared_per_multiprocessor.value, shared)});
  return per_multiprocessor * static_cast<std::uint64_t>(gpu.multiprocessors);
}

std::optional<Finding> check_limits(const LaunchState& launch) {
  std::string problem = check(launch);
  if (problem.empty())
    return std::nullopt;
  Finding finding;
  finding.kind = FindingKind::launch_limit;
  finding.kernel = launch.kernel_name;
  finding.message = fmt::format("{} cannot be launched: {}", launch.kernel_name, problem);
  return finding;
}

} // namespace kernevo::vgpu
