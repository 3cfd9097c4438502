// Memory fences, as instructions and as part of release operations.
#pragma once

#include "kernevo/vgpu/execute/warp.h"

namespace kernevo::vgpu::ops {

// At device scope or wider.
void fence(const Op& op, Warp& warp, LaneMask active);
// Among the threads of a block.
void block_fence(const Op& op, Warp& warp, LaneMask active);

} // namespace kernevo::vgpu::ops
