// A block in flight: its warps, their diverged parts, shared memory and barriers. A block is a
// resumable state machine: run() makes some progress and returns.
#pragma once

#include "kernevo/vgpu/compiled.h"
#include "kernevo/vgpu/lower.h"
#include "kernevo/vgpu/memory.h"
#include "kernevo/vgpu/warp.h" // IWYU pragma: export

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernevo::vgpu {

struct LaunchState; // see launch.h
struct Cluster;     // see cluster.h

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

enum class SplitState : std::uint8_t {
  ready,
  at_warp_sync, // waits for lanes of its member mask
  at_barrier,   // arrived at a block barrier
  waiting,      // an OpKind::wait instruction said to try again
};

// Lanes of a warp that are at the same place.
struct Split {
  LaneMask mask = 0;
  std::uint32_t pc = 0;
  Frame* frame = nullptr;
  SplitState state = SplitState::ready;
  bool deferred = false;            // it span long enough; others go first,
  std::uint64_t deferred_until = 0; // until the warp has run so many instructions
  std::uint64_t idle_since = 0;     // instructions of the warp when it last ran
};

inline void make_ready(Split& split, std::uint64_t now) {
  split.state = SplitState::ready;
  split.idle_since = now;
}

// A cp.async (or similar) in flight: data already read, to be stored when it is waited for.
struct PendingCopy {
  std::uint8_t lane = 0;
  std::uint8_t size = 0;
  std::uint32_t group = 0; // of the lane; commit_group opens the next
  std::uint64_t shared_offset = 0;
  const Op* op = nullptr;
  std::array<std::byte, 16> bytes{};
};

struct Activation; // see compiled_run.h

struct WarpState : Warp {
  WarpState();
  ~WarpState();
  WarpState(WarpState&&) noexcept;
  WarpState& operator=(WarpState&&) noexcept;

  std::unique_ptr<Activation> activation; // of compiled code, the last or a parked one
  LaunchState* launch = nullptr;
  Frame* current = nullptr; // the frame of `frame`
  Frame* entry = nullptr;
  std::vector<Split> splits;
  std::uint64_t executed = 0; // instructions since its start, the clock of its scheduler
  bool spinning = false;      // its last slice was spent in a loop of strong accesses
  // Loops of strong accesses wait for somebody. After the first such access the warp is watched; it
  // polls if there are more of them in a while.
  bool strong_access = false; // since its scheduler last looked
  bool watched = false;
  std::uint64_t watched_until = 0;

  std::vector<std::unique_ptr<Frame>> frames; // in use; released ones move to spare
  std::vector<std::unique_ptr<Frame>> spare;
  // Local memory, lane after lane.
  std::vector<std::byte> local;
  std::uint32_t local_stride = 0;
  LaneMask started = 0; // lanes that exist
  // barrier.cluster: lanes that arrived in the phase in progress, and those yet to wait for theirs.
  LaneMask cluster_arrived = 0;
  LaneMask cluster_unwaited = 0;
  void note_strong_access() {
    strong_access = true;
    if (!watched)
      deadline = 0;
  }

  // Allocations hit lately, by instruction.
  std::array<const Allocation*, 8> hits{};

  // cp.async: copies in flight and the group each lane is filling.
  std::vector<PendingCopy> pending;
  std::array<std::uint32_t, kWarpSize> open_group{};

  // Sanitizer: the last instruction of the kernel with an effect on memory, per lane (for barrier
  // divergence).
  std::array<std::uint32_t, kWarpSize> last_effect{};
  // Sanitizer: which lanes ever branched to an op of the kernel (for the same).
  std::vector<LaneMask> visited;

  std::byte* local_of(int lane) {
    return local.data() + std::size_t{local_stride} * static_cast<std::size_t>(lane);
  }
};

inline WarpState& state_of(Warp& warp) {
  return static_cast<WarpState&>(warp);
}

struct BarrierState {
  bool active = false;
  std::uint32_t count = 0;           // threads it waits for; 0 = all of the block
  std::vector<LaneMask> arrived;     // by warp
  bool announced = false;            // some only arrived (bar.arrive) and went on
  std::uint32_t true_predicates = 0; // bar.red
  std::uint32_t predicates = 0;
};

inline constexpr int kBarriers = 16;

// Ops a warp runs before the next one has its turn.
inline constexpr std::uint32_t kWarpQuantum = 1U << 16U;

enum class Progress : std::uint8_t {
  done,
  running,  // the slice is over, there is more to do
  spinning, // nothing but waiting for other blocks
  blocked,  // nothing here can move unless another block of the cluster does
  stopped,  // a fault, here or elsewhere
};

// What the sanitizer knows of a byte of shared memory.
inline constexpr std::uint8_t kUnwritten = 0;
inline constexpr std::uint8_t kWritten = 1;
inline constexpr std::uint8_t kCopyInFlight = 2; // a cp.async writes it, nobody has waited yet

// What one compiled function keeps between its activations in a block.
struct CompiledScratch {
  // How far entering the code here has led: where lanes part again at once, interpreting is faster.
  struct Entry {
    std::uint32_t runs = 0;
    std::uint32_t executed = 0;
  };
  const CompiledFunction* function = nullptr;
  std::vector<Entry> entries;
  std::vector<MemoryHit> hits;
};

struct BlockState {
  LaunchState* launch = nullptr;
  std::uint64_t number = 0; // linear index
  std::array<std::uint32_t, 3> index = {0, 0, 0};
  Cluster* cluster = nullptr;    // null when it is a cluster of its own
  std::uint32_t rank = 0;        // in the cluster
  std::uint64_t shared_base = 0; // where its shared memory begins in the cluster's
  std::vector<WarpState> warps;
  std::vector<std::byte> shared_storage;
  std::byte* shared = nullptr; // 1024-byte aligned
  std::uint64_t shared_bytes = 0;
  std::vector<std::uint8_t> shared_written; // sanitizer: one of the flags above per byte
  std::array<BarrierState, kBarriers> barriers;
  std::uint32_t live_warps = 0;
  bool moved = false;      // some warp did more than wait in the last run()
  std::uint64_t clock = 0; // %clock: advances with execution and with each reading
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t compiled_instructions = 0; // of them, run by compiled code
  MemoryCounters memory;
  std::vector<CompiledScratch> compiled;
  // Instructions of each function that some or all lanes of a warp interpreted, for the tier.
  std::vector<std::array<std::uint64_t, 2>> interpreted;
  std::uint64_t counted = 0; // of them, what its core's counters know
  std::uint64_t counted_threads = 0;
  std::uint64_t ticket = 0;       // its place in the order of this launch
  std::size_t core = 0;           // that runs it
  WarpState* scheduled = nullptr; // whose turn it is
  WarpState* last_run = nullptr;  // the last one that ran in that turn: warps hand over
  std::uint64_t turn_start = 0;   // its instructions when the turn began
  std::uint64_t clocked = 0;      // of the turn, what the clock has been told: before a hand-over
  bool has_turn = false;          // every block of an earlier ticket is done
  std::uint64_t choices = 0;      // shuffled order: random choices made so far

  // Makes this object the given block, all warps at the kernel's entry.
  void start(LaunchState& state, std::uint64_t block);
  // Runs about `instructions` warp instructions.
  Progress run(std::uint64_t instructions);
  // Shuffled order: the next choice among `count`, the same for the same seed and block.
  std::uint64_t choose(std::uint64_t count);

private:
  void count_instructions();
};

std::array<std::uint32_t, 3> thread_index(const WarpState& warp, int lane);

// Runs one warp for about `quantum` ops. Returns how many of them were more than a vain wait.
std::uint64_t run_warp(WarpState& warp, std::uint32_t quantum);
// The kernel's own instruction at which the lanes of the current frame are.
std::uint32_t entry_instruction(const WarpState& warp, const Op& op);

// Frames.
// Null after raising stack_overflow.
Frame* push_frame(WarpState& warp, const Code& code, Frame* parent, std::uint32_t return_pc,
                  LaneMask lanes);
// alloca: more local memory for every lane of the current frame. Its address in .local, or kNone
// after raising stack_overflow.
std::uint32_t extend_frame(WarpState& warp, const Op& op, int lane, std::uint64_t bytes,
                           std::uint64_t alignment);
// These lanes have left the frame; it is recycled when it is empty.
void leave_frame(WarpState& warp, Frame* frame, LaneMask lanes);

// The lanes of the split, all active, arrive at the barrier op they stand at.
void arrive_at_barrier(WarpState& warp, std::size_t split);
// All lanes of a warp that has not diverged arrive at the bar.sync of the whole block. True when
// that opens it.
bool arrive_whole_warp(WarpState& warp, std::uint32_t pc);
// Lets the threads of every complete barrier go.
void complete_barriers(BlockState& block);
// Every thread waits: says why.
void report_stuck(BlockState& block);

// Is the address inside module .const memory? (isspacep.const)
bool is_constant_address(const Warp& warp, std::uint64_t address);

} // namespace kernevo::vgpu
