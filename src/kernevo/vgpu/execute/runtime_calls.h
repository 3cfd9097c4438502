// The few device functions the CUDA runtime provides: printf, assert, malloc, free. Those that
// launch kernels are in device_launch.cpp.
#pragma once

#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/program/control.h"

namespace kernevo::vgpu {

void call_runtime(WarpState& warp, const Op& op, const CallDetail& call, LaneMask active);

} // namespace kernevo::vgpu
