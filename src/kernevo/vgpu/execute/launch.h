// What all blocks of one launch share.
#pragma once

#include "kernevo/vgpu/execute/block.h"
#include "kernevo/vgpu/execute/device_launch.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/execute/turns.h"
#include "kernevo/vgpu/memory/texture_table.h"
#include "kernevo/vgpu/profile/recorder.h"
#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/program/order_dependence.h"
#include "kernevo/vgpu/sanitizer/race_detector.h"
#include "kernevo/vgpu/tier/tier.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::vgpu {

// What one core has done, on a cache line of its own: only that core writes it.
struct alignas(64) CoreCounters {
  std::atomic<std::uint64_t> executed = 0; // warp instructions
  std::uint64_t threads_executed = 0;
  std::uint64_t blocks_run = 0;
  std::uint64_t unchecked = 0; // instructions since it last looked at the limits
  std::uint64_t compiled_instructions = 0;
  MemoryCounters memory;
};

// Shared memory of the system's own, in two halves.
inline constexpr std::uint64_t kReservedShared = 2048;

struct LaunchState {
  const Program* program = nullptr;
  const Code* kernel = nullptr;
  std::string kernel_name; // as in the source
  const LaunchConfig* config = nullptr;
  const Gpu* gpu = nullptr;
  const MachineOptions* options = nullptr;
  Memory* memory = nullptr;
  const TextureTable* textures = nullptr;
  bool sanitize = false;
  bool counts_memory = false;
  bool lanes_part = false; // see WarpState::parts
  bool contended = false;  // several cores run blocks: global atomics must be host atomics
  std::uint32_t threads_per_block = 0;
  std::uint32_t warps_per_block = 0;
  std::uint64_t grid_blocks = 0;
  std::array<std::uint32_t, 3> cluster = {1, 1, 1}; // blocks
  std::uint32_t cluster_blocks = 1;
  bool explicit_cluster = false;
  SharedLayout shared;
  std::uint64_t shared_bytes = 0;
  std::uint64_t reserved_shared = 0; // where the system's part starts, when the kernel uses it
  bool uses_reserved_shared = false;
  std::uint64_t grid_workspace = 0; // cooperative launches: address, in %envreg1 and 2
  std::vector<std::byte> parameters;
  std::vector<std::uint64_t> addresses; // by variable: global and constant ones
  // A fresh frame of each function, made on first use (the entry at start).
  std::vector<std::vector<std::byte>> images;
  std::unique_ptr<RaceDetector> races;
  std::unique_ptr<Recorder> recorder; // profile mode
  // Sanitizer: by barrier op of the kernel, the branch targets every path from it must pass.
  std::map<std::uint32_t, std::vector<std::uint32_t>> after_barrier;

  std::mutex mutex; // fault, printed
  std::optional<Finding> fault;
  // A read of bytes nobody has written yet. It waits for the end: a race on them explains it
  // better.
  std::optional<Finding> suspicion;
  std::string printed;
  std::atomic<std::uint64_t> print_cost = 0; // of the budget, beside the instructions themselves
  bool output_flood = false;
  // Blocks that may be resident at once, and turns in a row in which one of them only polled while
  // others could not start: when all of them do, they wait for blocks that never come.
  std::uint64_t most_resident = 0;
  std::atomic<std::uint64_t> turns_in_vain = 0;
  std::atomic<bool> stop = false;

  std::unique_ptr<TierHandle> tier; // null: the interpreter alone
  DeviceLaunches children;
  OrderDependence order;
  std::optional<Turns> turns; // several cores, and the order of blocks matters
  std::vector<CoreCounters> cores;
  std::uint64_t executed = 0; // the sums, when all is done
  std::uint64_t threads_executed = 0;
  std::uint64_t blocks_run = 0;
  std::uint64_t compiled_instructions = 0;
  MemoryCounters memory_counters;
  std::chrono::steady_clock::time_point started;
  double processor_started = 0; // of the process, in seconds

  void record(Finding finding);
  // Budget and clocks; false after recording the fault.
  bool within_limits();
  bool waits_for_unstarted() const;
  void stop_late(std::string message);
};

} // namespace kernevo::vgpu
