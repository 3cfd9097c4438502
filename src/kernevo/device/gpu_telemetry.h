// What NVML says of a GPU at one moment, and what of it makes a timing worthless.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernevo {

// Reasons why a clock is not what it could be, as NVML's bits.
namespace slowdown {
constexpr std::uint64_t idle = 0x1;
constexpr std::uint64_t power_cap = 0x4;
constexpr std::uint64_t hardware = 0x8;
constexpr std::uint64_t heat_software = 0x20;
constexpr std::uint64_t heat_hardware = 0x40;
constexpr std::uint64_t power_brake = 0x80;
} // namespace slowdown

// What is not told is absent.
struct GpuTelemetry {
  std::string driver;  // "580.65.06"; empty without NVML
  std::string missing; // why there is nothing more; empty when there is
  bool lost = false;   // NVML says the GPU is gone
  std::optional<double> multiprocessor_mhz;
  std::optional<double> memory_mhz;
  std::optional<double> wanted_mhz; // what the multiprocessors' clock is set to, at most
  std::optional<std::uint64_t> reasons;
  std::optional<double> celsius;
  std::optional<double> watts;
  struct Process {
    std::int64_t id = 0;
    std::optional<int> percent; // of the time since it was asked last
    std::string name;           // of its program; empty where that cannot be seen
    bool operator==(const Process&) const = default;
  };
  std::optional<std::vector<Process>> processes; // that compute on it
  bool operator==(const GpuTelemetry&) const = default;
};

// One line for each reason not to believe a time that was taken now. `ours`: processes of this
// program on the GPU; where NVML lists none of them it counts in numbers that are not ours (another
// namespace), and nothing is said of others.
std::vector<std::string> disturbances(const GpuTelemetry& now, std::span<const std::int64_t> ours);

} // namespace kernevo
