#include "kernevo/vgpu/execute/turns.h"

#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"

#include <chrono>
#include <thread>

namespace kernevo::vgpu {
namespace {

// The block before is usually almost done; when it is not, its core may be this very one.
constexpr int kBusyLooks = 256;
constexpr int kYields = 1024;
constexpr auto kNap = std::chrono::microseconds(50);

thread_local std::chrono::steady_clock::duration waited{};

} // namespace

std::chrono::steady_clock::duration time_waited_for_turns() {
  return waited;
}

bool await_turn(WarpState& warp) {
  BlockState& block = *warp.block;
  LaunchState& launch = *warp.launch;
  if (!launch.turns || block.has_turn)
    return true;
  if (launch.turns->is_oldest(block.core, block.ticket)) {
    block.has_turn = true;
    return true;
  }
  const auto start = std::chrono::steady_clock::now();
  for (int looks = 0; !launch.turns->is_oldest(block.core, block.ticket); ++looks) {
    if (launch.stop.load(std::memory_order_relaxed)) {
      warp.faulted = true;
      return false;
    }
    if (looks > kYields)
      std::this_thread::sleep_for(kNap);
    else if (looks > kBusyLooks)
      std::this_thread::yield();
  }
  waited += std::chrono::steady_clock::now() - start;
  block.has_turn = true;
  return true;
}

} // namespace kernevo::vgpu
