#include "kernevo/vgpu/ops/fence.h"

#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"

#include <atomic>

namespace kernevo::vgpu::ops {
namespace {

void tell_race_detector(Warp& warp, RaceDetector::FenceScope scope) {
  const WarpState& state = state_of(warp);
  if (state.launch->races)
    state.launch->races->fence(static_cast<std::uint32_t>(state.block->number), scope);
}

} // namespace

void fence(const Op& /*op*/, Warp& warp, LaneMask /*active*/) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  tell_race_detector(warp, RaceDetector::FenceScope::device);
}

// A block runs on one core, so its own threads need nothing of the host.
void block_fence(const Op& /*op*/, Warp& warp, LaneMask /*active*/) {
  tell_race_detector(warp, RaceDetector::FenceScope::block);
}

} // namespace kernevo::vgpu::ops
