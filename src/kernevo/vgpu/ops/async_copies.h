// cp.async copies in flight. The data is read when the copy is issued and stored as late as the
// program allows, when it is waited for: a kernel that forgets to wait reads what was there before,
// every time, instead of only on some machines.
#pragma once

#include "kernevo/vgpu/execute/warp.h"

#include <cstdint>

namespace kernevo::vgpu::ops {

// Stores the lanes' copies, oldest first, except those of the `newest_kept` youngest committed
// groups; a group still open counts as younger than all of them. False after a fault.
bool complete_copies(Warp& warp, LaneMask lanes, std::uint32_t newest_kept);
// The same for every copy of the lanes, committed or not.
bool complete_all_copies(Warp& warp, LaneMask lanes);

} // namespace kernevo::vgpu::ops
