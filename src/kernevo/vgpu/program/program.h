// The executable form of a PTX module: every operand is a byte offset into a warp's register frame,
// every instruction a function pointer. Immutable and shared between threads.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"
#include "kernevo/ptx/module.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace kernevo::vgpu {

inline constexpr int kWarpSize = 32;
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xFFFFFFFFU;
inline constexpr std::uint32_t kNone = 0xFFFFFFFFU; // "no such operand"

struct Warp;
struct Op;
// Executes one instruction for the active lanes. Lanes outside `active` must not change.
using Handler = void (*)(const Op& op, Warp& warp, LaneMask active);

// Who acts on an instruction: most are plain calls of the handler; the rest concern the
// interpreter.
enum class OpKind : std::uint8_t {
  compute,   // handler only
  memory,    // handler that may fault
  warp_sync, // needs every lane of its member mask in one place before the handler runs
  branch,
  indirect_branch,
  call,
  ret,
  exit,
  barrier, // block-wide: bar, barrier
  wait,    // handler decides whether the warp must wait (mbarrier.try_wait, nanosleep): yields
  trap,
};

// Operand lists and settings of one instruction family that do not fit Op's fields.
struct Detail {
  Detail() = default;
  Detail(const Detail&) = delete;
  Detail& operator=(const Detail&) = delete;
  virtual ~Detail() = default;
};

struct Op {
  Handler handler = nullptr;
  std::uint32_t d = kNone; // frame offsets
  std::uint32_t a = kNone;
  std::uint32_t b = kNone;
  std::uint32_t c = kNone;
  std::int64_t immediate = 0; // family-specific: address offset, barrier id, look-up table, ...
  const Detail* detail = nullptr;
  std::uint32_t guard = kNone; // frame offset of the guard predicate's lane mask
  bool guard_negated = false;
  OpKind kind = OpKind::compute;
  std::uint32_t member_mask = kNone; // warp_sync: frame offset of the mask; kNone = all live lanes
  std::uint32_t target = kNone;      // branch: index of the op to go to
  std::uint32_t instruction = 0;     // index into the ptx::Function, for places and messages
};

// One function of the module, ready to run.
struct Code {
  const ptx::Function* function = nullptr;
  std::vector<Op> ops;
  std::vector<std::unique_ptr<Detail>> details;
  std::uint32_t frame_bytes = 0;
  // What a fresh frame holds where it is not zero: immediates broadcast over the lanes.
  struct Constant {
    std::uint32_t offset = 0;
    std::uint32_t size = 0; // bytes per lane: 1, 2, 4, 8; 0 = a predicate mask
    std::uint64_t bits = 0;
  };
  std::vector<Constant> constants;
  struct SpecialSlot {
    std::uint32_t offset = 0; // 32 lanes of `size` bytes
    std::uint32_t size = 4;
    ptx::Special special = ptx::Special::tid_x;
  };
  std::vector<SpecialSlot> specials;

  // Addresses of names, known only when a launch has laid out memory.
  enum class SymbolKind : std::uint8_t {
    variable, // global, constant or shared: `symbol` is an index into Program::variables
    local,    // this frame's own .local memory: `addend` is the offset inside the frame's part
    param,    // the same for .param variables of the body and of a .func
  };
  struct SymbolSlot {
    std::uint32_t offset = 0;
    std::uint32_t size = 8;
    SymbolKind kind = SymbolKind::variable;
    std::uint32_t symbol = 0;
    std::int64_t addend = 0;
  };
  std::vector<SymbolSlot> symbols;

  struct FramePart {
    std::uint32_t offset = 0; // inside the frame's part of a lane's local memory
    std::uint32_t bytes = 0;
  };
  std::vector<FramePart> parameters; // of a .func
  std::vector<FramePart> returns;

  // How the front end's names map to the frame: registers by RegisterId, and the first op of each
  // instruction (one more entry for the end).
  std::vector<std::uint32_t> register_slots;
  std::vector<std::uint32_t> first_op;
  // Slot of a name used as a value: (name, offset, bytes per lane).
  std::map<std::tuple<std::string, std::int64_t, std::uint32_t>, std::uint32_t> symbol_slots;

  // Register slots that some path reads before it writes them: they start as zero.
  std::vector<FramePart> read_unset;

  std::uint32_t index = 0;       // of the function in the module
  std::uint32_t first_tag = 0;   // race-detector tag of instruction 0
  std::uint32_t local_bytes = 0; // per lane: .param variables, then .local variables
  // Scheduling position of each op: loops are contiguous, everything else topological.
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> callees; // functions it may call directly or takes the address of
  bool indirect_calls = false;
  bool ordered = false; // it acts on global memory in ways that depend on the order of blocks
  bool polls = false;   // it may wait for other blocks in a loop
  std::vector<std::uint32_t> shared_variables; // indices into Program::variables
};

} // namespace kernevo::vgpu
