#include "kernevo/vgpu/execute/launch.h"

#include "kernevo/base/process_seconds.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo::vgpu {

void LaunchState::record(Finding finding) {
  const std::lock_guard lock(mutex);
  if (!fault)
    fault = std::move(finding);
  stop.store(true, std::memory_order_relaxed);
}

bool LaunchState::within_limits() {
  if (stop.load(std::memory_order_relaxed))
    return false;
  std::uint64_t total = print_cost.load(std::memory_order_relaxed);
  for (const CoreCounters& core : cores)
    total += core.executed.load(std::memory_order_relaxed);
  if (total > options->instruction_budget) {
    Finding finding;
    finding.kind = FindingKind::instruction_budget;
    finding.kernel = kernel_name;
    finding.message = fmt::format("{} executed more than {} warp instructions and was stopped",
                                  kernel_name, options->instruction_budget);
    if (waits_for_unstarted()) {
      finding.kind = FindingKind::deadlock;
      finding.message =
          fmt::format("{} waits for blocks that cannot start: the {} holds {} of its {} blocks at "
                      "once, and all that have started poll in vain; wait for blocks that started "
                      "earlier (numbered by an atomic), or launch no more than fit",
                      kernel_name, gpu->name, most_resident, grid_blocks);
    }
    record(std::move(finding));
    return false;
  }
  if (options->seconds > 0) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    if (elapsed.count() > options->seconds) {
      stop_late(
          fmt::format("{} ran longer than {:g} s and was stopped", kernel_name, options->seconds));
      return false;
    }
  }
  if (options->processor_seconds > 0 &&
      process_seconds() - processor_started > options->processor_seconds) {
    stop_late(fmt::format("{} took more than {:g} s of processor time and was stopped", kernel_name,
                          options->processor_seconds));
    return false;
  }
  return true;
}

bool LaunchState::waits_for_unstarted() const {
  return most_resident != 0 &&
         turns_in_vain.load(std::memory_order_relaxed) > 2 * most_resident / cluster_blocks;
}

void LaunchState::stop_late(std::string message) {
  Finding finding;
  finding.kind = FindingKind::time_limit;
  finding.kernel = kernel_name;
  finding.message = std::move(message);
  record(std::move(finding));
}

} // namespace kernevo::vgpu
