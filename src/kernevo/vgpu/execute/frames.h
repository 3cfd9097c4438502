// Activations of functions: register frames and each lane's part of local memory.
#pragma once

#include "kernevo/vgpu/program/control.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernevo::vgpu {

struct LaunchState; // see launch.h
struct WarpState;   // see warp_state.h

// One activation of a function by the lanes that called it together.
struct Frame {
  const Code* code = nullptr;
  Frame* parent = nullptr;
  std::uint32_t return_pc = 0;     // in the parent
  std::uint32_t local_base = 0;    // where its part of each lane's local memory begins
  std::uint32_t dynamic_bytes = 0; // of alloca, after the frame's own part
  std::uint32_t depth = 0;
  LaneMask lanes = 0; // that have not returned
  std::unique_ptr<std::byte[]> storage;
  std::byte* registers = nullptr; // 64-byte aligned
  std::size_t capacity = 0;
};

// The whole frame image of a function, with constants and addresses in place.
std::vector<std::byte> frame_image(const LaunchState& launch, const Code& code);

// Null after raising stack_overflow.
Frame* push_frame(WarpState& warp, const Code& code, Frame* parent, std::uint32_t return_pc,
                  LaneMask lanes);
// alloca: more local memory for every lane of the current frame. Its address in .local, or kNone
// after raising stack_overflow.
std::uint32_t extend_frame(WarpState& warp, const Op& op, int lane, std::uint64_t bytes,
                           std::uint64_t alignment);
// These lanes have left the frame; it is recycled when it is empty.
void leave_frame(WarpState& warp, Frame* frame, LaneMask lanes);
// A lane's copy of an argument or result of a call.
std::byte* place_of(WarpState& warp, const Frame& frame, const CallDetail::Place& place, int lane);
// The kernel's own instruction at which the lanes of the current frame are.
std::uint32_t entry_instruction(const WarpState& warp, const Op& op);

} // namespace kernevo::vgpu
