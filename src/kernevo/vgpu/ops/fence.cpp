#include "kernevo/vgpu/ops/fence.h"

#include "kernevo/vgpu/launch.h"

#include <atomic>

namespace kernevo::vgpu::ops {

void fence(const Op& /*op*/, Warp& warp, LaneMask /*active*/) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const WarpState& state = state_of(warp);
  if (state.launch->races)
    state.launch->races->fence(static_cast<std::uint32_t>(state.block->number));
}

} // namespace kernevo::vgpu::ops
