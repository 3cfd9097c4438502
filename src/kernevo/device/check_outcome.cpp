#include "kernevo/device/check_outcome.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {
namespace {

double product(const std::array<std::int64_t, 3>& extent) {
  return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) *
         static_cast<double>(extent[2]);
}

tl::unexpected<Error> impossible(const std::string& what) {
  return fail(ErrorCode::infrastructure, "the worker's answer cannot be: " + what);
}

bool same(const std::array<std::uint32_t, 3>& told, const std::array<std::int64_t, 3>& planned) {
  return std::equal(told.begin(), told.end(), planned.begin(),
                    [](std::uint32_t a, std::int64_t b) { return std::int64_t{a} == b; });
}

Result<void> check_counts(const Launch& launch, const LaunchCounts& counts) {
  if (!same(counts.grid, launch.grid) || !same(counts.block, launch.block))
    return impossible(fmt::format("counts of '{}' are of another launch", launch.kernel));
  const double blocks = product(launch.grid);
  if (static_cast<double>(counts.blocks.size()) > blocks)
    return impossible(fmt::format("'{}' has fewer blocks than were counted", launch.kernel));
  for (const BlockCounts& block : counts.blocks)
    if (static_cast<double>(block.block) >= blocks)
      return impossible(fmt::format("'{}' has no block {}", launch.kernel, block.block));
  return {};
}

} // namespace

double planned_blocks(const RunRequest& request) {
  double blocks = 0;
  for (const Launch& launch : request.plan.launches)
    blocks += product(launch.grid);
  return blocks;
}

Result<void> check_outcome(const RunRequest& request, const RunOutcome& outcome,
                           bool launches_kernels) {
  if (!launches_kernels && static_cast<double>(outcome.blocks_run) > planned_blocks(request))
    return impossible(
        fmt::format("{} blocks ran of {:.0f}", outcome.blocks_run, planned_blocks(request)));
  const Instruments& instruments = request.instruments;
  if (outcome.compiled_instructions > outcome.warp_instructions)
    return impossible("more instructions were compiled than executed");
  const std::size_t launches = instruments.profile.empty() ? 0 : request.plan.launches.size();
  if (outcome.counts.size() > launches || (!outcome.fault && outcome.counts.size() < launches))
    return impossible(
        fmt::format("counts of {} launches, not {}", outcome.counts.size(), launches));
  for (std::size_t i = 0; i < outcome.counts.size(); ++i)
    KERNEVO_CHECK(check_counts(request.plan.launches[i], outcome.counts[i]));
  if (!outcome.fault && instruments.only_blocks.empty() && instruments.profile.empty() &&
      static_cast<double>(outcome.blocks_run) < planned_blocks(request))
    return impossible(
        fmt::format("only {} of {:.0f} blocks ran", outcome.blocks_run, planned_blocks(request)));
  return {};
}

} // namespace kernevo
