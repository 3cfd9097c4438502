#include "kernevo/cuda/core/transfer_cost.h"

#include "kernevo/predict/calibration.h"

#include <algorithm>
#include <array>

namespace kernevo::cuda {
namespace {

// What is left of a link's rate beside headers and acknowledgements of its packets.
constexpr double kLinkEfficiency = 0.8;
// A core that copies into the driver's buffer, 1e9 bytes per second.
constexpr double kPageableGbps = 8;

} // namespace

std::string_view name_of(Transfer transfer) {
  constexpr std::array<std::string_view, kTransfers> names = {"host to device",
                                                              "device to host",
                                                              "host to device, pageable",
                                                              "device to host, pageable",
                                                              "on the device",
                                                              "fill",
                                                              "on the host"};
  return names.at(static_cast<std::size_t>(transfer));
}

Cost transfer_cost(const Gpu& gpu, const Architecture& architecture, Transfer transfer,
                   std::uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  const double link = architecture.host_link_gbps * kLinkEfficiency; // bytes per nanosecond
  const double dram = gpu.dram_gbps * kCalibration.dram_efficiency;
  const double start = kCalibration.launch_ns;
  switch (transfer) {
  case Transfer::to_device: return {start + amount / link, Engine::copy_in};
  case Transfer::from_device: return {start + amount / link, Engine::copy_out};
  case Transfer::pageable_in:
    return {start + amount / std::min(link, kPageableGbps), Engine::copy_in};
  case Transfer::pageable_out:
    return {start + amount / std::min(link, kPageableGbps), Engine::copy_out};
  // Read and written.
  case Transfer::on_device: return {start + 2 * amount / dram, Engine::multiprocessors};
  case Transfer::fill: return {start + amount / dram, Engine::multiprocessors};
  case Transfer::on_host: break;
  }
  return {};
}

} // namespace kernevo::cuda
