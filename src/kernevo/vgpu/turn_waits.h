// How much of a core's time goes into waiting for turns.
#pragma once

#include <chrono>

namespace kernevo::vgpu {

// What await_turn() has cost this thread so far.
std::chrono::steady_clock::duration time_waited_for_turns();

} // namespace kernevo::vgpu
