// What the named GPU allows a launch.
#pragma once

#include "kernevo/model/finding.h"

#include <cstdint>
#include <optional>

namespace kernevo::vgpu {

struct LaunchState; // see launch.h

// Checks the launch against the GPU and the kernel. Sets nothing.
std::optional<Finding> check_limits(const LaunchState& launch);
// Blocks that the GPU could hold at once.
std::uint64_t resident_limit(const LaunchState& launch);

} // namespace kernevo::vgpu
