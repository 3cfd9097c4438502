// Memory fences, as instructions and as part of release operations.
#pragma once

#include "kernevo/vgpu/warp.h"

namespace kernevo::vgpu::ops {

// A fence at device scope or wider.
void fence(const Op& op, Warp& warp, LaneMask active);

} // namespace kernevo::vgpu::ops
