// Tensor maps in the memory of a kernel.
#pragma once

#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/memory/tensor_map.h"

namespace kernevo::vgpu::ops {

// False after a fault.
bool load_tensor_map(Warp& warp, const Op& op, int lane, ptx::Space space, std::uint64_t address,
                     TensorMap& map);
bool store_tensor_map(Warp& warp, const Op& op, int lane, ptx::Space space, std::uint64_t address,
                      const TensorMap& map);

} // namespace kernevo::vgpu::ops
