// Settings of the instructions the interpreter itself acts on.
#pragma once

#include "kernevo/vgpu/program/program.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernevo::vgpu {

struct BarrierDetail : Detail {
  enum class Mode : std::uint8_t { sync, arrive, red_popc, red_and, red_or };
  Mode mode = Mode::sync;
  bool aligned = true;
  std::uint32_t id = kNone;        // slot of 32-bit lanes
  std::uint32_t count = kNone;     // the same; kNone = all threads of the block
  std::uint32_t predicate = kNone; // bar.red: lane mask
};

// Device functions that the CUDA runtime provides.
enum class RuntimeFunction : std::uint8_t {
  none,
  vprintf,
  assert_fail,
  malloc,
  free,
  // The device runtime, device_launch.h.
  get_parameter_buffer,
  launch_device,
  device_malloc, // as the host's: the address goes where the first argument points
  device_free,
  make_handle,
  get_device,
  copy_async, // in the order of the launches
  fill_async,
  set_condition, // of a graph
  succeed,       // what needs no action here
};

// Adds to what runs after the grid: the order of blocks shows.
constexpr bool is_launch(RuntimeFunction function) {
  return function == RuntimeFunction::launch_device || function == RuntimeFunction::copy_async ||
         function == RuntimeFunction::fill_async;
}

struct CallDetail : Detail {
  // An argument or a result: memory of the caller's frame, or a register slot.
  struct Place {
    bool in_register = false;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  std::uint32_t function = kNone; // kNone = indirect, through `pointer`
  std::uint32_t pointer = kNone;
  RuntimeFunction runtime = RuntimeFunction::none;
  std::vector<Place> arguments;
  std::vector<Place> results;
};

RuntimeFunction runtime_function(std::string_view name);

} // namespace kernevo::vgpu
