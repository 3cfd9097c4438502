#include "kernevo/vgpu/execute/launch_limits.h"

#include "kernevo/model/occupancy.h"
#include "kernevo/ptx/target.h"
#include "kernevo/vgpu/execute/launch.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace kernevo::vgpu {
namespace {

constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxGridYz = 65535;
constexpr std::uint32_t kMaxGridX = 0x7FFF'FFFF;

Result<Occupancy> occupancy(const LaunchState& launch) {
  return compute_occupancy(*launch.gpu, static_cast<int>(launch.threads_per_block),
                           launch.config->registers_per_thread.value_or(0),
                           Bytes{launch.shared_bytes});
}

constexpr std::uint32_t kPortableCluster = 8;
constexpr std::uint32_t kLargestCluster = 16;

std::string check_cluster(const LaunchState& launch) {
  const LaunchConfig& config = *launch.config;
  const ptx::Function& kernel = *launch.kernel->function;
  const auto& size = launch.cluster;
  const auto shape = fmt::format("{}x{}x{}", size[0], size[1], size[2]);
  const std::uint64_t blocks = std::uint64_t{size[0]} * size[1] * size[2];
  if (blocks == 0)
    return "a cluster extent is zero";
  if (kernel.explicit_cluster && !launch.explicit_cluster)
    return "the kernel requires clusters (.explicitcluster), the launch names no cluster size";
  if (!launch.explicit_cluster)
    return "";
  if (launch.gpu->compute_capability < ptx::kFirstWithClusters)
    return fmt::format("clusters of {} blocks, the {} (sm_{}) has none; they need {}", shape,
                       launch.gpu->name, launch.gpu->compute_capability,
                       ptx::needed_text("", ptx::kFirstWithClusters));
  if (blocks > kLargestCluster)
    return fmt::format("a cluster of {} = {} blocks, the limit is {}", shape, blocks,
                       kLargestCluster);
  if (blocks > kPortableCluster && !config.nonportable_cluster)
    return fmt::format("a cluster of {} = {} blocks, more than {} need the non-portable cluster "
                       "size to be allowed",
                       shape, blocks, kPortableCluster);
  if (kernel.max_cluster && blocks > *kernel.max_cluster)
    return fmt::format("a cluster of {} = {} blocks, the kernel was compiled for at most {}", shape,
                       blocks, *kernel.max_cluster);
  if (kernel.required_cluster && *kernel.required_cluster != size)
    return fmt::format("a cluster of {} blocks, the kernel requires exactly {}x{}x{}", shape,
                       (*kernel.required_cluster)[0], (*kernel.required_cluster)[1],
                       (*kernel.required_cluster)[2]);
  for (std::size_t i = 0; i < size.size(); ++i)
    if (config.grid[i] % size[i] != 0)
      return fmt::format("a grid of {}x{}x{} blocks, which clusters of {} blocks do not divide",
                         config.grid[0], config.grid[1], config.grid[2], shape);
  if (resident_limit(launch) < blocks)
    return fmt::format("a cluster of {} blocks, the {} can hold {} blocks of this kernel at once",
                       blocks, launch.gpu->name, resident_limit(launch));
  return "";
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
  if (const auto fits = occupancy(launch); !fits)
    return fits.error().message;
  if (std::string problem = check_cluster(launch); !problem.empty())
    return problem;
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
  const auto fits = occupancy(launch);
  const int blocks = fits ? fits->blocks_per_multiprocessor : 0;
  return static_cast<std::uint64_t>(blocks) *
         static_cast<std::uint64_t>(launch.gpu->multiprocessors);
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
