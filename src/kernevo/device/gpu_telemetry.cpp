#include "kernevo/device/gpu_telemetry.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace kernevo {
namespace {

// A clock below this share of its setting says nothing about a kernel.
constexpr double kLeastClock = 0.75;

bool is_ours(std::span<const std::int64_t> ours, const GpuTelemetry::Process& process) {
  return std::ranges::find(ours, process.id) != ours.end();
}

} // namespace

std::vector<std::string> disturbances(const GpuTelemetry& now, std::span<const std::int64_t> ours) {
  std::vector<std::string> found;
  const std::uint64_t reasons = now.reasons.value_or(0);
  for (const auto& [bit, text] : std::initializer_list<std::pair<std::uint64_t, std::string_view>>{
           {slowdown::hardware, "slowed down by its hardware"},
           {slowdown::heat_software | slowdown::heat_hardware, "slowed down by heat"},
           {slowdown::power_brake, "slowed down by its power supply"}})
    if ((reasons & bit) != 0)
      found.emplace_back(text);
  // At rest a clock may be as low as it likes.
  const bool idle = (reasons & slowdown::idle) != 0;
  if (!idle && now.multiprocessor_mhz && now.wanted_mhz &&
      *now.multiprocessor_mhz < kLeastClock * *now.wanted_mhz)
    found.push_back(
        fmt::format("its clock is {:.0f} MHz of {:.0f}{}", *now.multiprocessor_mhz, *now.wanted_mhz,
                    (reasons & slowdown::power_cap) != 0 ? ", by its power limit" : ""));
  if (now.processes && std::ranges::any_of(*now.processes, [&](const auto& process) {
        return is_ours(ours, process);
      }))
    for (const GpuTelemetry::Process& process : *now.processes)
      // One that rests is no trouble. Where that cannot be told it may be, but for another kernevo:
      // who has the lease is alone among those.
      if (!is_ours(ours, process) &&
          process.percent.value_or(process.name == "kernevo" ? 0 : 1) > 0)
        found.push_back(
            fmt::format("process {}{} runs on it, too", process.id,
                        process.name.empty() ? "" : fmt::format(" ({})", process.name)));
  return found;
}

} // namespace kernevo
