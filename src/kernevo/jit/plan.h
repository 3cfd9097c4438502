// What the compiled form of a function looks like from outside, decided before any code is made:
// where the interpreter may enter, where the code leaves, and the numbering of everything shared.
// Deterministic, so that cached machine code needs no description beside it.
#pragma once

#include "kernevo/jit/pass_log.h"
#include "kernevo/vgpu/tier/compiled.h"

#include <cstdint>
#include <vector>

namespace kernevo::jit {

using vgpu::kNone;

// What is done with an instruction.
enum class Treatment : std::uint8_t {
  inlined,  // LLVM IR, or a call of the runtime library
  handler,  // the interpreter's own handler, on the frame
  warp,     // the same, once it is certain that all its member lanes are here
  exchange, // LLVM IR on the same condition
  leave,    // the code leaves before it; the interpreter executes it
  branch,
  barrier, // bar.sync of the whole block
};

Treatment treatment_of(const vgpu::Code& code, std::uint32_t instruction);

// Written as IR by the emitter itself; other functions of one lane come from the runtime library.
bool is_inlined_arithmetic(const ptx::Instruction& at);
bool is_inlined_conversion(const ptx::Instruction& at);

// The operand that names the lanes of a warp-level instruction; null when all live lanes are meant.
const ptx::Operand* member_mask(const vgpu::Code& code, std::uint32_t instruction);

// A part of a warp may wait before it, or be left standing after it.
bool may_stand_at(Treatment treatment);

// A branch to an op at or before its own: every loop has one.
bool goes_back(const vgpu::Code& code, std::uint32_t instruction);

// Where a register lives while compiled code runs.
enum class Home : std::uint8_t {
  unused,
  scalar, // straight: one base per group
  vector, // 32 lanes
  flag,   // a uniform predicate
  mask,   // a predicate, one bit per lane
  frame,  // in the warp's frame, where handlers look for it
};

// One comparison for accesses that lie at constant distances from each other.
struct AccessCheck {
  std::uint32_t instruction = 0; // before which it stands: the first of them
  std::int64_t first = 0;        // offsets from what they have in common: of that one,
  std::int64_t low = 0;          // the lowest and the highest
  std::int64_t high = 0;
  unsigned size = 0;
  bool store = false; // some of them
};

struct Plan {
  // Code that is made quickly: every register stays in memory, where the interpreter and its
  // handlers look for it, and what varies over the lanes is a call of the runtime library. Entries,
  // exits and joins need no code then, and no vector passes through LLVM.
  bool light = false;
  vgpu::analysis::Flow flow;
  vgpu::analysis::Liveness liveness;
  vgpu::analysis::Shapes shapes;
  std::vector<Treatment> treatment;     // by instruction
  std::vector<Home> home;               // by register
  std::vector<std::uint32_t> scalar_of; // by register: index of its first base, or kNone
  std::vector<std::uint32_t> hit;       // by instruction: its MemoryHit, or kNone
  std::vector<std::uint32_t> check_of;  // by instruction: the check that covers it, or kNone
  std::vector<AccessCheck> checks;
  std::vector<std::uint32_t> exit;  // by instruction: the exit before it, or kNone
  std::vector<std::uint32_t> entry; // by instruction: the entry before it, or kNone
  std::vector<vgpu::CompiledPoint> entries;
  std::vector<vgpu::CompiledPoint> exits;
  std::uint32_t hits = 0;
  std::uint32_t scalars = 0;
};

Plan make_plan(const vgpu::CompileJob& job, PassLog& log);

// Does widening this source need a check that no lane wraps?
bool widens_straight(const vgpu::Code& code, const Plan& plan, std::uint32_t instruction,
                     const vgpu::analysis::LaneFacts& facts);

} // namespace kernevo::jit
