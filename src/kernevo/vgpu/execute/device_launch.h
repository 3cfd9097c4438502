// Kernels that kernels launch.
#pragma once

#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/program/control.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace kernevo::vgpu {

// A grid, or a copy or filling of memory that waits for its turn among them.
struct DeviceLaunch {
  enum class Work : std::uint8_t { grid, copy, fill };
  Work work = Work::grid;
  std::uint64_t to = 0; // copy and fill
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
  std::uint8_t value = 0;
  std::uint32_t function = 0;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  bool tail = false; // after the launching grid and all its other children
  std::vector<std::byte> parameters;
};

// What one grid has launched. A grid that was launched by another may start any time after; here
// all start when the launching grid has ended, one after the other.
class DeviceLaunches {
public:
  // Memory for the parameters of a launch to come.
  void prepare(std::uint64_t buffer, DeviceLaunch launch);
  // The launch whose parameters are in the buffer; false when there is none.
  bool launch(std::uint64_t buffer, bool tail);
  void add(DeviceLaunch launch);
  // In the order they shall run.
  std::vector<DeviceLaunch> take();
  std::size_t count() const { return launched_.size(); }

private:
  std::mutex mutex_;
  std::map<std::uint64_t, DeviceLaunch> prepared_; // by buffer
  std::vector<DeviceLaunch> launched_;
};

// The part of the CUDA device runtime that launches kernels: RuntimeFunction::get_parameter_buffer
// and those after it.
void call_device_runtime(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active);

} // namespace kernevo::vgpu
