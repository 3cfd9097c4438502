// The virtual GPU's public face: memory, modules, launches. Several threads may use one: what asks
// for memory, textures and variables waits for its turn, launches run side by side, each on several
// cores. What is set for launches to come (order, profile) is for a single owner. PTX is
// interpreted, or translated to machine code of this processor (tier/); either way every access is
// checked against the live allocations.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/block_tally.h"
#include "kernevo/model/finding.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/vgpu/memory/allocation_options.h" // IWYU pragma: export
#include "kernevo/vgpu/memory/memory_counters.h"
#include "kernevo/vgpu/memory/texture.h"
#include "kernevo/vgpu/program/kernels.h" // IWYU pragma: export

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::vgpu {

struct DeviceLaunch; // a grid launched by a kernel, see device_launch.h
struct LaunchState;

// Parses, verifies and lowers PTX text.
Result<std::shared_ptr<const Program>> load_program(std::string_view ptx, const std::string& file);
// The same for several modules, linked as one.
Result<std::shared_ptr<const Program>> load_program(const std::vector<std::string>& modules,
                                                    const std::string& file);

struct LaunchConfig {
  std::string kernel;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  // Blocks per cluster. A kernel compiled for a cluster size (__cluster_dims__) brings its own.
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};
  bool nonportable_cluster = false;        // more than 8 blocks a cluster are allowed
  std::vector<std::byte> parameters;       // the parameter buffer, laid out as KernelInfo says
  std::optional<int> registers_per_thread; // from ptxas, to enforce registers x threads
  // Run only these blocks (linear index x + y*gx + z*gx*gy), in this order. Empty = all.
  std::vector<std::uint64_t> only_blocks;
  // Profile mode: count these alone of the blocks that run, each as often as its weight says; the
  // others run as they would without. Empty = all, once.
  struct Counted {
    std::uint64_t block = 0;
    double weight = 1;
  };
  std::vector<Counted> counted;
  // MachineOptions of the same names, for this launch alone.
  std::optional<std::uint64_t> profile_l1_bytes = std::nullopt;
  bool count_memory = false;
  // Profile mode: after so many warp instructions no more are counted, also of a block that has
  // begun; it and the others run on as they would without. 0 = no limit.
  std::uint64_t most_counted = 0;
  // Receives what each block of the grid did; empty = not wanted.
  std::span<BlockTally> tallies = {};
};

struct LaunchStatistics {
  std::uint64_t blocks_run = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t compiled_instructions = 0; // of the warp instructions: those of compiled code
  MemoryCounters memory;                   // MachineOptions::count_memory
  std::uint64_t device_launches = 0;       // grids launched by kernels

  LaunchStatistics& operator+=(const LaunchStatistics& other) {
    blocks_run += other.blocks_run;
    warp_instructions += other.warp_instructions;
    thread_instructions += other.thread_instructions;
    compiled_instructions += other.compiled_instructions;
    memory += other.memory;
    device_launches += other.device_launches;
    return *this;
  }
};

struct LaunchResult {
  std::optional<Finding> fault; // the launch ended early because of this
  std::string printed;          // what printf wrote, cut at the limit
  bool output_flood = false;
  LaunchStatistics statistics;
  std::optional<LaunchCounts> counts; // MachineOptions::profile_l1_bytes
};

// Which block, warp and lane goes first is nobody's promise. Shuffled, a seed decides it: a result
// that changes depends on order.
enum class BlockOrder : std::uint8_t { in_order, shuffled };

// Who executes: the interpreter, and compiled code beside it where that pays, or one of them.
enum class Tier : std::uint8_t {
  automatic,
  interpreter,
  compiled, // compiles before the launch starts, whatever it costs
};

struct MachineOptions {
  bool sanitize = false; // initialisation and race detection (bounds and alignment are always on)
  int cores = 0;         // 0 = all; sanitize implies 1
  std::uint64_t instruction_budget = 4'000'000'000;      // warp instructions per launch
  std::uint64_t memory_limit = std::uint64_t{16} << 30U; // of all allocations
  std::size_t print_limit = 1U << 20U;
  double seconds = 0;           // wall-clock limit of a launch; 0 = none
  double processor_seconds = 0; // the same of what this process computes meanwhile, on all cores
  BlockOrder order = BlockOrder::in_order;
  std::uint64_t order_seed = 0; // of the shuffled order
  // Atomics whose order shows take effect in the order of blocks, whatever the number of cores.
  // False: as they come, as on a real GPU.
  bool deterministic = true;
  Tier tier = Tier::automatic; // sanitize implies the interpreter
  bool count_memory = false;   // LaunchStatistics::memory
  // Kernels may reach the end of the last so many bytes of an allocation, and shared memory is
  // given in units of its own: as with hardware, whose careless programs get away with it. 0 = to
  // the byte.
  std::uint64_t granule = 0;
  // Count everything (LaunchResult::counts), for blocks that have so much of L1 to themselves.
  // Implies one core, and the interpreter for the blocks that are counted.
  std::optional<std::uint64_t> profile_l1_bytes = std::nullopt;
};

class Machine {
public:
  Machine(Gpu gpu, MachineOptions options);
  ~Machine();
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  // Device memory. `name` appears in findings. The content is zero, or poison when not initialised.
  Result<DevicePointer> allocate(std::uint64_t bytes, const std::string& name,
                                 AllocationOptions options = {});
  // Uses existing memory (a shared mapping) as the allocation's storage; it must outlive the
  // machine.
  Result<DevicePointer> adopt(std::span<std::byte> storage, const std::string& name,
                              AllocationOptions options = {});
  void free(DevicePointer pointer);
  std::uint64_t used() const;                        // bytes allocated
  std::span<std::byte> bytes(DevicePointer pointer); // the whole allocation's storage
  // One flag per byte: written by a kernel since allocation. Only in sanitizer mode or when the
  // allocation was made with initialized = false or with memory for them.
  std::span<const std::uint8_t> written(DevicePointer pointer) const;

  // Where a module variable (.global or .const) of the program lives in this machine; it keeps its
  // content from launch to launch.
  Result<DevicePointer> variable(const Program& program, const std::string& name);

  // All of them, in the order in which they are allocated.
  struct Variable {
    std::string name;
    DevicePointer address = 0;
    std::uint64_t bytes = 0;
  };
  Result<std::vector<Variable>> variables(const Program& program);

  // Names of the .global variables that do not hold what they held before the first launch.
  std::vector<std::string> changed_variables(const Program& program);
  // Nobody may rely on what those bytes of them hold that changed: they are random from now on, and
  // reading one before it is written is a fault (sanitizer mode).
  void forget_changes(const Program& program, std::uint64_t seed);
  // The same of an allocation that was made with initialized = false; its content stays.
  void forget(DevicePointer pointer);

  // Textures, surfaces and samplers on memory of this machine: handles to pass as 64-bit arguments.
  // A .texref or .surfref variable is bound by writing the handle where variable() says.
  Result<std::uint64_t> create_texture(const TextureDescription& description);
  Result<std::uint64_t> create_surface(const ImageDescription& image);
  Result<std::uint64_t> create_sampler(const SamplerDescription& sampler);
  bool destroy_texture(std::uint64_t handle); // any of the three; false when it is none

  // Ends when the grid has ended, and every grid that its kernels launched.
  LaunchResult launch(const Program& program, const LaunchConfig& config);
  // Why such a launch would be refused before anything ran, if it would.
  std::optional<Finding> refusal(const Program& program, const LaunchConfig& config);
  // Ends the launches that are running, and any to come, as soon as they notice.
  void interrupt();

  // MachineOptions::order and order_seed of the launches to come.
  void order(BlockOrder order, std::uint64_t seed);
  // MachineOptions::profile_l1_bytes of the launches to come.
  void profile(std::optional<std::uint64_t> l1_bytes);

  const Gpu& gpu() const;

private:
  template <class Visit> void visit_changed(const Program& program, const Visit& visit);

  // Everything a launch needs, or why it is refused.
  std::optional<Finding> prepare(LaunchState& launch, const Program& program,
                                 const LaunchConfig& config, const MachineOptions& options);
  // One grid; what it launched is appended, the first at the end.
  LaunchResult launch_grid(const Program& program, const LaunchConfig& config,
                           const MachineOptions& options, std::vector<DeviceLaunch>& launched);

  struct State;
  std::unique_ptr<State> state_;
};

} // namespace kernevo::vgpu
