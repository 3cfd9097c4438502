#include "kernevo/vgpu/execute/device_launch.h"

#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/runtime_arguments.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/program/control.h"

#include <algorithm>
#include <cstring>

namespace kernevo::vgpu {
namespace {

// Error numbers of the CUDA runtime.
constexpr std::int32_t kSuccess = 0;
constexpr std::int32_t kInvalidValue = 1;
constexpr std::int32_t kOutOfMemory = 2;
constexpr std::int32_t kInvalidConfiguration = 9;
constexpr std::int32_t kPendingCountExceeded = 69;

constexpr std::size_t kMostPending = 1U << 20U;
constexpr std::uint64_t kTailStream = 3; // cudaStreamTailLaunch

using Extents = std::array<std::uint32_t, 3>;

std::uint32_t parameter_bytes(const Code& code) {
  return code.parameters.empty() ? 0 : code.parameters.back().offset + code.parameters.back().bytes;
}

void get_buffer(WarpState& warp, const CallDetail& call, int lane) {
  LaunchState& launch = *warp.launch;
  const Program& program = *launch.program;
  const auto pointer = call_argument<std::uint64_t>(warp, call, 0, lane);
  std::uint64_t buffer = 0;
  if (const std::uint64_t function = pointer - kFunctionWindow;
      function < program.codes.size() && program.codes[function].function->is_entry) {
    DeviceLaunch made;
    made.function = static_cast<std::uint32_t>(function);
    made.grid = call_argument<Extents>(warp, call, 1, lane);
    made.block = call_argument<Extents>(warp, call, 2, lane);
    made.dynamic_shared = call_argument<std::uint32_t>(warp, call, 3, lane);
    made.parameters.resize(parameter_bytes(program.codes[function]));
    buffer = launch.memory->heap().allocate(std::max<std::uint64_t>(made.parameters.size(), 1));
    if (buffer != 0)
      launch.children.prepare(buffer, std::move(made));
  }
  set_call_result(warp, call, lane, buffer);
}

void launch_device(WarpState& warp, const CallDetail& call, int lane) {
  LaunchState& launch = *warp.launch;
  const auto buffer = call_argument<std::uint64_t>(warp, call, 0, lane);
  const auto stream = call_argument<std::uint64_t>(warp, call, 1, lane);
  std::int32_t error = kSuccess;
  if (launch.children.count() >= kMostPending)
    error = kPendingCountExceeded;
  else if (!launch.children.launch(buffer, stream == kTailStream))
    error = kInvalidConfiguration;
  launch.memory->heap().free(buffer);
  set_call_result(warp, call, lane, error);
}

// (to, from, bytes, kind, stream) or (to, value, bytes, stream)
void move_memory(WarpState& warp, const CallDetail& call, int lane, bool copy) {
  LaunchState& launch = *warp.launch;
  DeviceLaunch made;
  made.work = copy ? DeviceLaunch::Work::copy : DeviceLaunch::Work::fill;
  made.to = call_argument<std::uint64_t>(warp, call, 0, lane);
  if (copy)
    made.from = call_argument<std::uint64_t>(warp, call, 1, lane);
  else
    made.value = static_cast<std::uint8_t>(call_argument<std::uint32_t>(warp, call, 1, lane));
  made.bytes = call_argument<std::uint64_t>(warp, call, 2, lane);
  made.tail = call_argument<std::uint64_t>(warp, call, copy ? 4 : 3, lane) == kTailStream;
  const bool room = launch.children.count() < kMostPending;
  if (room)
    launch.children.add(std::move(made));
  set_call_result(warp, call, lane, room ? kSuccess : kPendingCountExceeded);
}

// Writes a value where the pointer in argument 0 points.
template <class T>
void give(WarpState& warp, const Op& op, const CallDetail& call, int lane, T value) {
  Access access;
  access.kind = AccessKind::store;
  access.size = sizeof value;
  const auto address = call_argument<std::uint64_t>(warp, call, 0, lane);
  std::byte* const to = resolve(warp, op, lane, address, access);
  if (to == nullptr)
    return;
  std::memcpy(to, &value, sizeof value);
  set_call_result(warp, call, lane, kSuccess);
}

// (handle, value): the handle is where the value goes. Threads may set it at the same time.
void set_condition(WarpState& warp, const Op& op, const CallDetail& call, int lane) {
  const auto value = call_argument<std::uint32_t>(warp, call, 1, lane);
  Access access;
  access.kind = AccessKind::store;
  access.size = sizeof value;
  access.strong = true;
  std::byte* const to =
      resolve(warp, op, lane, call_argument<std::uint64_t>(warp, call, 0, lane), access);
  if (to != nullptr)
    std::memcpy(to, &value, sizeof value);
}

void allocate(WarpState& warp, const Op& op, const CallDetail& call, int lane) {
  const auto made =
      warp.launch->memory->heap().allocate(call_argument<std::uint64_t>(warp, call, 1, lane));
  give(warp, op, call, lane, made);
  if (made == 0)
    set_call_result(warp, call, lane, kOutOfMemory);
}

void release(WarpState& warp, const CallDetail& call, int lane) {
  const auto address = call_argument<std::uint64_t>(warp, call, 0, lane);
  const bool freed = address == 0 || warp.launch->memory->heap().free(address);
  set_call_result(warp, call, lane, freed ? kSuccess : kInvalidValue);
}

} // namespace

void DeviceLaunches::prepare(std::uint64_t buffer, DeviceLaunch launch) {
  const std::lock_guard lock(mutex_);
  prepared_[buffer] = std::move(launch);
}

bool DeviceLaunches::launch(std::uint64_t buffer, bool tail) {
  const std::lock_guard lock(mutex_);
  auto found = prepared_.extract(buffer);
  if (!found)
    return false;
  DeviceLaunch& launch = found.mapped();
  launch.tail = tail;
  const auto* const bytes = reinterpret_cast<const std::byte*>(buffer); // NOLINT
  std::copy_n(bytes, launch.parameters.size(), launch.parameters.begin());
  launched_.push_back(std::move(launch));
  return true;
}

void DeviceLaunches::add(DeviceLaunch launch) {
  const std::lock_guard lock(mutex_);
  launched_.push_back(std::move(launch));
}

std::vector<DeviceLaunch> DeviceLaunches::take() {
  std::stable_partition(launched_.begin(), launched_.end(),
                        [](const DeviceLaunch& launch) { return !launch.tail; });
  return std::move(launched_);
}

void call_device_runtime(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active) {
  const RuntimeFunction function = call.runtime;
  if (is_launch(function) && !await_turn(warp))
    return;
  for_each_lane(active, [&](int lane) {
    if (warp.faulted)
      return;
    switch (function) {
    case RuntimeFunction::get_parameter_buffer: get_buffer(warp, call, lane); break;
    case RuntimeFunction::launch_device: launch_device(warp, call, lane); break;
    case RuntimeFunction::copy_async: move_memory(warp, call, lane, true); break;
    case RuntimeFunction::fill_async: move_memory(warp, call, lane, false); break;
    case RuntimeFunction::device_malloc: allocate(warp, op, call, lane); break;
    case RuntimeFunction::device_free: release(warp, call, lane); break;
    case RuntimeFunction::make_handle: // of a stream or an event: all launches are in one order
      give(warp, op, call, lane, std::uint64_t{16});
      break;
    case RuntimeFunction::set_condition: set_condition(warp, op, call, lane); break;
    case RuntimeFunction::get_device: give(warp, op, call, lane, std::int32_t{0}); break;
    default: set_call_result(warp, call, lane, kSuccess); break;
    }
  });
}

} // namespace kernevo::vgpu
