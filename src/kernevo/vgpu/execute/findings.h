// Faults with their place: kernel, source line, block, thread.
#pragma once

#include "kernevo/model/finding.h"
#include "kernevo/vgpu/program/program.h"

#include <array>
#include <cstdint>
#include <string>

namespace kernevo::vgpu {

struct LaunchState; // see launch.h
struct WarpState;   // see warp_state.h

std::array<std::uint32_t, 3> thread_index(const WarpState& warp, int lane);

// Describes an instruction's place in a finding.
Finding finding_at(const LaunchState& launch, FindingKind kind, const Code& code,
                   std::uint32_t instruction);
Finding finding_at(WarpState& warp, FindingKind kind, const Op& op, int lane, std::string message);

} // namespace kernevo::vgpu
