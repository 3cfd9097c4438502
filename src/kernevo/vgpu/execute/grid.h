// Blocks over cores.
#pragma once

namespace kernevo::vgpu {

struct LaunchState; // see launch.h

// Runs every block.
void run_grid(LaunchState& launch);

} // namespace kernevo::vgpu
