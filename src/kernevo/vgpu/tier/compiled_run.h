// Runs a part of a warp in compiled code, from an entry to wherever it leaves.
#pragma once

#include "kernevo/vgpu/execute/block.h"
#include "kernevo/vgpu/tier/compiled.h"
#include "kernevo/vgpu/tier/fiber.h"

#include <cstdint>

namespace kernevo::vgpu {

struct CompiledOutcome {
  bool entered = false;  // false: a claim about a register did not hold; nothing has happened
  bool parked = false;   // it waits at a barrier; pc is not set
  bool look_due = false; // the warp's deadline has passed, and a branch that goes back was taken
  ptx::RegisterId refuted = 0;
  std::uint32_t pc = 0; // where the interpreter goes on
  std::uint64_t executed = 0;
  std::uint64_t threads = 0;
};

// One activation of compiled code by a warp. It may stand at a block's barrier, on a stack of its
// own, while other warps run.
struct Activation {
  CompiledContext context;
  std::vector<std::uint64_t> scalars; // quick code keeps its straight registers here
  const CompiledFunction* function = nullptr;
  std::uint32_t entry = 0;
  std::uint32_t exit = 0;
  LaneMask mask = 0;
  bool parked = false;
  bool left = false;               // its code returned while another warp had the scheduler's turn
  std::uint64_t told_executed = 0; // of context.executed and idle, what the scheduler knows
  std::uint64_t told_idle = 0;
  Fiber fiber;
};

// The warp's current frame is that of the code. Leaves before it comes to a place whose order is
// `limit` or more, and after a branch that goes back once the warp's deadline has passed.
CompiledOutcome run_compiled(WarpState& warp, const CompiledFunction& function, std::uint32_t entry,
                             LaneMask mask, std::uint32_t limit);

// Has entering here led far enough to be worth it?
bool entry_pays(BlockState& block, const CompiledFunction& function, std::uint32_t entry);

// Goes on with an activation that stood at a barrier which has opened, or says how one ended that
// has gone on already: at a barrier a warp hands over to the next one of its block.
CompiledOutcome resume_compiled(WarpState& warp);

// Sectors of one request.
void count_request(MemoryCounters& counters, const std::uint64_t* addresses, LaneMask mask,
                   std::uint32_t size, bool store);

} // namespace kernevo::vgpu
