// Arguments and results of the functions the CUDA runtime provides to device code.
#pragma once

#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/program/control.h"

#include <algorithm>
#include <cstring>

namespace kernevo::vgpu {

template <class T>
T call_argument(WarpState& warp, const CallDetail& call, std::size_t index, int lane) {
  T value{};
  if (index < call.arguments.size())
    std::memcpy(&value, place_of(warp, *warp.current, call.arguments[index], lane),
                std::min<std::size_t>(sizeof value, call.arguments[index].bytes));
  return value;
}

template <class T>
void set_call_result(WarpState& warp, const CallDetail& call, int lane, T value) {
  if (!call.results.empty())
    std::memcpy(place_of(warp, *warp.current, call.results[0], lane), &value,
                std::min<std::size_t>(sizeof value, call.results[0].bytes));
}

} // namespace kernevo::vgpu
