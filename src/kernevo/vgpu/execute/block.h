// A block in flight: its warps, their diverged parts, shared memory and barriers. A block is a
// resumable state machine: run() makes some progress and returns.
#pragma once

#include "kernevo/vgpu/execute/barrier.h"
#include "kernevo/vgpu/execute/warp_state.h" // IWYU pragma: export
#include "kernevo/vgpu/memory/memory_counters.h"
#include "kernevo/vgpu/tier/compiled.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernevo::vgpu {

struct Cluster; // see cluster.h
class Recorder; // see profile/recorder.h

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
  Recorder* recorder = nullptr;  // when it is counted
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
  void add_to_tally(std::uint64_t instructions) const;
};

} // namespace kernevo::vgpu
