#include "kernevo/vgpu/execute/machine.h"

#include "kernevo/base/process_seconds.h"
#include "kernevo/base/random.h"
#include "kernevo/ptx/target.h"
#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/execute/grid.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/launch_limits.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/program/kernels.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

namespace kernevo::vgpu {
namespace {

// What a launch by a kernel costs of the instruction budget, at least.
constexpr std::uint64_t kInstructionsOfLaunch = 1000;
// What shared memory is given in (MachineOptions::granule).
constexpr std::uint64_t kSharedUnit = 128;

// Module variables of a program in this machine's memory, by variable.
using Instance = std::vector<std::uint64_t>;
// What they hold before the first launch; nothing where that is zeros.
using InitialContents = std::map<std::size_t, std::vector<std::byte>>;

std::span<std::byte> content_of(const Allocation& allocation) {
  return {reinterpret_cast<std::byte*>(allocation.base), allocation.bytes}; // NOLINT
}

Result<Instance> instantiate(Memory& memory, const Program& program) {
  Instance addresses(program.variables.size(), 0);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const ptx::Variable& variable = *program.variables[i];
    if (variable.space == ptx::Space::shared || variable.bytes == 0)
      continue;
    KERNEVO_TRY(allocation,
                memory.allocate(variable.bytes, plain_variable_name(variable.name), {}));
    allocation->constant = variable.space == ptx::Space::constant;
    allocation->read_only = allocation->constant;
    if (!variable.initial.empty())
      std::memcpy(allocation->storage.data(), variable.initial.data(),
                  std::min<std::size_t>(variable.initial.size(), variable.bytes));
    addresses[i] = allocation->base;
  }
  for (std::size_t i = 0; i < addresses.size(); ++i)
    for (const auto& relocation : program.variables[i]->relocations) {
      std::uint64_t value = 0;
      if (const auto other = program.variable_of.find(relocation.symbol);
          other != program.variable_of.end())
        value = addresses[other->second];
      else if (const auto function = program.function_of.find(relocation.symbol);
               function != program.function_of.end())
        value = kFunctionWindow + function->second;
      else
        return fail(ErrorCode::input,
                    fmt::format("the initial value of '{}' names '{}', which does not exist",
                                program.variables[i]->name, relocation.symbol),
                    Place{program.file, static_cast<int>(program.variables[i]->line), 0});
      value += static_cast<std::uint64_t>(relocation.addend);
      const std::uint64_t bytes = program.variables[i]->bytes;
      const std::size_t size = std::min<std::uint64_t>(8, bytes - std::min(relocation.at, bytes));
      std::memcpy(memory.find(addresses[i])->storage.data() + relocation.at, &value, size);
    }
  return addresses;
}

LaunchResult refused(FindingKind kind, const std::string& kernel, std::string message) {
  LaunchResult result;
  Finding finding;
  finding.kind = kind;
  finding.kernel = kernel;
  finding.message = std::move(message);
  result.fault = std::move(finding);
  return result;
}

// Cooperative groups keep the counter of their grid barrier in a workspace the driver provides: its
// size, then the counter. Nothing when the launch is not cooperative or memory is full (the kernel
// then traps, as it would on a device that refused the launch).
std::optional<std::uint64_t> prepare_grid_barrier(LaunchState& launch) {
  constexpr std::uint32_t workspace_bytes = 64;
  if (!launch.config->cooperative)
    return std::nullopt;
  const auto allocation = launch.memory->allocate(workspace_bytes, "grid workspace", {});
  if (!allocation)
    return std::nullopt;
  launch.grid_workspace = (*allocation)->base;
  std::memcpy(reinterpret_cast<std::byte*>(launch.grid_workspace), &workspace_bytes, // NOLINT
              sizeof workspace_bytes);
  return launch.grid_workspace;
}

// Tiles of more than a warp (cooperative groups) meet in shared memory that the system lends them.
// It stands behind the kernel's own and does not count against its limit.
void reserve_shared(LaunchState& launch) {
  constexpr std::uint64_t alignment = 128;
  for (const std::uint32_t function : reachable_functions(*launch.program, launch.kernel->index))
    for (const Code::SpecialSlot& slot : launch.program->codes[function].specials)
      launch.uses_reserved_shared =
          launch.uses_reserved_shared || (slot.special >= ptx::Special::reserved_smem_begin &&
                                          slot.special <= ptx::Special::reserved_smem_second);
  if (!launch.uses_reserved_shared)
    return;
  launch.reserved_shared = (launch.shared_bytes + alignment - 1) / alignment * alignment;
  launch.shared_bytes = launch.reserved_shared + kReservedShared;
}

// The bytes a kernel asked to copy or fill, or null when they are not one piece of memory.
std::byte* piece(Memory& memory, std::uint64_t address, std::uint64_t bytes, bool write) {
  auto* const host = reinterpret_cast<std::byte*>(address); // NOLINT
  if (const auto block = memory.heap().find(address))
    return bytes <= block->base + block->bytes - address ? host : nullptr;
  Allocation* const found = memory.find(address);
  if (found == nullptr || !found->covers(address, address + bytes) || found->pages != nullptr ||
      (write && found->read_only))
    return nullptr;
  if (write && found->written != nullptr)
    std::memset(found->written + (address - found->base), 1, bytes);
  return host;
}

std::optional<Finding> move_memory(Memory& memory, const DeviceLaunch& work) {
  const bool copy = work.work == DeviceLaunch::Work::copy;
  std::byte* const to = piece(memory, work.to, work.bytes, true);
  const std::byte* const from = copy ? piece(memory, work.from, work.bytes, false) : to;
  if (work.bytes != 0 && (to == nullptr || from == nullptr))
    return refused(FindingKind::out_of_bounds, copy ? "cudaMemcpyAsync" : "cudaMemsetAsync",
                   fmt::format("a kernel asked to {} {} bytes at {:#x}, which are not all in one "
                               "allocation",
                               copy ? "copy" : "fill", work.bytes,
                               to == nullptr ? work.to : work.from))
        .fault;
  if (copy && work.bytes != 0)
    std::memmove(to, from, work.bytes);
  else if (work.bytes != 0)
    std::memset(to, work.value, work.bytes);
  return std::nullopt;
}

// The launch's cluster, or the one the kernel was compiled for.
void choose_cluster(LaunchState& launch) {
  const auto& required = launch.kernel->function->required_cluster;
  const bool given = launch.config->cluster != std::array<std::uint32_t, 3>{1, 1, 1};
  launch.explicit_cluster = given || required.has_value();
  launch.cluster = given ? launch.config->cluster : required.value_or(launch.config->cluster);
  // Sizes that check_limits() will refuse need not be counted.
  const std::uint64_t blocks =
      std::uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2];
  launch.cluster_blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, 1U << 30U));
}

// Threads, blocks, clusters and shared memory.
void measure(LaunchState& launch) {
  const LaunchConfig& config = *launch.config;
  // 64-bit products of extents that check_limits() has yet to see cannot overflow into a small
  // count.
  const std::uint64_t threads = std::uint64_t{config.block[0]} * config.block[1] * config.block[2];
  launch.threads_per_block =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, 1U << 30U));
  launch.warps_per_block = (launch.threads_per_block + kWarpSize - 1) / kWarpSize;
  launch.grid_blocks = std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
  choose_cluster(launch);
  launch.shared = lay_out_shared(*launch.program, launch.kernel->index);
  launch.shared_bytes = config.dynamic_shared == 0
                            ? launch.shared.static_bytes
                            : launch.shared.dynamic_base + config.dynamic_shared;
}

// Lanes that call a function one by one have frames of their own and cannot meet in it.
bool lanes_meet_in_kernel(const Program& program, const Code& kernel) {
  return std::all_of(program.codes.begin(), program.codes.end(), [&](const Code& code) {
    return &code == &kernel || code.function->is_entry ||
           std::none_of(code.ops.begin(), code.ops.end(),
                        [](const Op& op) { return op.kind == OpKind::warp_sync; });
  });
}

// Who looks on, and who may take over from the interpreter.
void appoint_observers(LaunchState& launch) {
  const LaunchConfig& config = *launch.config;
  const MachineOptions& options = *launch.options;
  if (launch.sanitize)
    launch.races = std::make_unique<RaceDetector>(launch.grid_blocks, launch.warps_per_block,
                                                  launch.program->granule);
  launch.lanes_part = launch.sanitize && options.order == BlockOrder::shuffled &&
                      lanes_meet_in_kernel(*launch.program, *launch.kernel);
  if (const auto l1_bytes = options.profile_l1_bytes)
    launch.recorder = std::make_unique<Recorder>(*launch.program, *launch.memory, *l1_bytes,
                                                 config.counted, config.most_counted);
  const bool has_uncounted = !launch.recorder || config.most_counted != 0 ||
                             (config.only_blocks.empty() && !config.counted.empty());
  // Compiled code knows neither the sanitizer nor the shared memory of other blocks.
  if (!launch.sanitize && has_uncounted && launch.cluster_blocks == 1 &&
      options.tier != Tier::interpreter)
    launch.tier = std::make_unique<TierHandle>(TierHandle::Launch{
        launch.program->shared_from_this(), launch.kernel->index,
        analysis::lane_facts(config.block), options.tier, launch.counts_memory,
        config.only_blocks.empty() ? launch.grid_blocks : config.only_blocks.size()});
}

LaunchResult take_result(LaunchState& launch) {
  LaunchResult result;
  // What an uninitialised value led to (a wild address, an endless loop) is its consequence; only a
  // fault of synchronisation is its cause.
  const bool cause = launch.fault && (launch.fault->kind == FindingKind::shared_race ||
                                      launch.fault->kind == FindingKind::global_race ||
                                      launch.fault->kind == FindingKind::stale_read_only_load ||
                                      launch.fault->kind == FindingKind::barrier_divergence);
  result.fault = launch.suspicion && !cause ? std::move(launch.suspicion) : std::move(launch.fault);
  result.printed = std::move(launch.printed);
  result.output_flood = launch.output_flood;
  if (launch.recorder) {
    result.counts = launch.recorder->take(*launch.config);
    result.counts->kernel = launch.kernel_name;
    result.counts->shared_bytes = launch.shared_bytes;
  }
  result.statistics.blocks_run = launch.blocks_run;
  result.statistics.warp_instructions = launch.executed;
  result.statistics.thread_instructions = launch.threads_executed;
  result.statistics.compiled_instructions = launch.compiled_instructions;
  result.statistics.memory = launch.memory_counters;
  return result;
}

} // namespace

struct Machine::State {
  State(Gpu the_gpu, MachineOptions the_options)
      : gpu(std::move(the_gpu)), options(the_options),
        memory(options.memory_limit, options.sanitize, options.granule) {}

  Gpu gpu;
  MachineOptions options;
  Memory memory;
  TextureTable textures;
  std::map<std::uint64_t, Instance> instances; // by Program::id
  std::map<std::uint64_t, InitialContents> initial_contents;
  std::mutex launches;
  std::set<LaunchState*> running;
  bool interrupted = false;

  // The program's variables, made on first use.
  Result<const Instance*> instance(const Program& program) {
    const auto held = memory.lock();
    const auto found = instances.find(program.id);
    if (found != instances.end())
      return &found->second;
    KERNEVO_TRY(made, instantiate(memory, program));
    for (std::size_t i = 0; i < made.size(); ++i) {
      const ptx::Variable& variable = *program.variables[i];
      if (variable.reference != ptx::Variable::Reference::sampler)
        continue;
      KERNEVO_TRY(handle, textures.add_sampler(declared_sampler(variable)));
      std::memcpy(memory.find(made[i])->storage.data(), &handle, sizeof handle);
    }
    InitialContents& initial = initial_contents[program.id];
    for (std::size_t i = 0; i < made.size(); ++i) {
      const ptx::Variable& variable = *program.variables[i];
      const bool zeros = variable.initial.empty() && variable.relocations.empty() &&
                         variable.reference == ptx::Variable::Reference::none;
      if (made[i] == 0 || zeros || variable.space == ptx::Space::constant)
        continue;
      const auto content = content_of(*memory.find(made[i]));
      initial[i].assign(content.begin(), content.end());
    }
    return &instances.emplace(program.id, std::move(made)).first->second;
  }
};

Machine::Machine(Gpu gpu, MachineOptions options)
    : state_(std::make_unique<State>(std::move(gpu), options)) {}
Machine::~Machine() = default;
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;

Result<DevicePointer> Machine::allocate(std::uint64_t bytes, const std::string& name,
                                        AllocationOptions options) {
  KERNEVO_TRY(allocation, state_->memory.allocate(bytes, name, options));
  return allocation->base;
}

Result<DevicePointer> Machine::adopt(std::span<std::byte> storage, const std::string& name,
                                     AllocationOptions options) {
  KERNEVO_TRY(allocation, state_->memory.adopt(storage, name, options));
  return allocation->base;
}

Result<std::uint64_t> Machine::create_texture(const TextureDescription& description) {
  const auto held = state_->memory.lock();
  return state_->textures.add_texture(description, state_->memory);
}

Result<std::uint64_t> Machine::create_surface(const ImageDescription& image) {
  const auto held = state_->memory.lock();
  return state_->textures.add_surface(image, state_->memory);
}

Result<std::uint64_t> Machine::create_sampler(const SamplerDescription& sampler) {
  return state_->textures.add_sampler(sampler);
}

bool Machine::destroy_texture(std::uint64_t handle) {
  return state_->textures.remove(handle);
}

void Machine::free(DevicePointer pointer) {
  const auto held = state_->memory.lock();
  if (const Allocation* found = state_->memory.find(pointer))
    state_->textures.forget_memory(found->base, found->end());
  state_->memory.free(pointer);
}

std::span<std::byte> Machine::bytes(DevicePointer pointer) {
  const auto held = state_->memory.lock();
  const Allocation* found = state_->memory.find(pointer);
  return found == nullptr ? std::span<std::byte>() : content_of(*found);
}

std::span<const std::uint8_t> Machine::written(DevicePointer pointer) const {
  const Allocation* found = state_->memory.find(pointer);
  if (found == nullptr || found->written == nullptr)
    return {};
  return {found->written, found->bytes};
}

std::uint64_t Machine::used() const {
  return state_->memory.used();
}

const Gpu& Machine::gpu() const {
  return state_->gpu;
}

Result<DevicePointer> Machine::variable(const Program& program, const std::string& name) {
  KERNEVO_TRY(instance, state_->instance(program));
  const auto found = program.variable_of.find(name);
  if (found == program.variable_of.end() || (*instance)[found->second] == 0)
    return fail(ErrorCode::input,
                fmt::format("'{}' is no .global or .const variable of {}", name, program.file));
  return (*instance)[found->second];
}

Result<std::vector<Machine::Variable>> Machine::variables(const Program& program) {
  KERNEVO_TRY(instance, state_->instance(program));
  std::vector<Variable> all;
  for (std::size_t i = 0; i < instance->size(); ++i)
    if ((*instance)[i] != 0)
      all.push_back({program.variables[i]->name, (*instance)[i], program.variables[i]->bytes});
  return all;
}

template <class Visit> void Machine::visit_changed(const Program& program, const Visit& visit) {
  const auto made = state_->instances.find(program.id);
  if (made == state_->instances.end())
    return;
  const InitialContents& initial = state_->initial_contents[program.id];
  for (std::size_t i = 0; i < made->second.size(); ++i) {
    const ptx::Variable& variable = *program.variables[i];
    if (made->second[i] == 0 || variable.space == ptx::Space::constant)
      continue;
    Allocation& allocation = *state_->memory.find(made->second[i]);
    const std::span<const std::byte> now = content_of(allocation);
    const auto known = initial.find(i);
    const auto is_changed = [&](std::size_t at) {
      return now[at] != (known == initial.end() ? std::byte{0} : known->second[at]);
    };
    for (std::size_t at = 0; at < now.size(); ++at)
      if (is_changed(at)) {
        visit(variable, allocation, at, is_changed);
        break;
      }
  }
}

std::vector<std::string> Machine::changed_variables(const Program& program) {
  std::vector<std::string> changed;
  visit_changed(program,
                [&](const ptx::Variable& variable, const Allocation&, std::size_t, const auto&) {
                  changed.push_back(plain_variable_name(variable.name));
                });
  return changed;
}

void Machine::forget_changes(const Program& program, std::uint64_t seed) {
  const CounterRandom random(seed);
  visit_changed(program, [&](const ptx::Variable&, Allocation& allocation, std::size_t first,
                             const auto& is_changed) {
    const bool track = state_->options.sanitize && allocation.written != nullptr;
    if (track) {
      allocation.initialized = false;
      std::memset(allocation.written, 1, allocation.bytes);
    }
    for (std::size_t at = first; at < allocation.bytes; ++at) {
      if (!is_changed(at))
        continue;
      if (track)
        allocation.written[at] = 0;
      content_of(allocation)[at] = static_cast<std::byte>(random.bits(at));
    }
  });
}

void Machine::forget(DevicePointer pointer) {
  if (const Allocation* found = state_->memory.find(pointer);
      found != nullptr && found->written != nullptr)
    std::memset(found->written, 0, found->bytes);
}

void Machine::order(BlockOrder order, std::uint64_t seed) {
  state_->options.order = order;
  state_->options.order_seed = seed;
}

void Machine::profile(std::optional<std::uint64_t> l1_bytes) {
  state_->options.profile_l1_bytes = l1_bytes;
}

LaunchResult Machine::launch(const Program& program, const LaunchConfig& config) {
  std::vector<DeviceLaunch> open; // what kernels launched, the next at the end
  MachineOptions options = state_->options;
  const std::uint64_t budget = options.instruction_budget;
  const std::optional<std::uint64_t> profiled = options.profile_l1_bytes;
  if (config.profile_l1_bytes)
    options.profile_l1_bytes = config.profile_l1_bytes;
  options.count_memory = options.count_memory || config.count_memory;
  LaunchResult result = launch_grid(program, config, options, open);
  options.profile_l1_bytes = profiled;
  while (!open.empty() && !result.fault) {
    const DeviceLaunch next = std::move(open.back());
    open.pop_back();
    if (next.work != DeviceLaunch::Work::grid) {
      result.fault = move_memory(state_->memory, next);
      continue;
    }
    LaunchConfig child;
    child.kernel = program.codes[next.function].function->name;
    child.grid = next.grid;
    child.block = next.block;
    child.dynamic_shared = next.dynamic_shared;
    child.parameters = next.parameters;
    // One budget for all; a kernel that launches itself for ever uses it up.
    const std::uint64_t used = result.statistics.warp_instructions +
                               kInstructionsOfLaunch * (result.statistics.device_launches + 1);
    if (used >= budget) {
      LaunchResult stopped =
          refused(FindingKind::instruction_budget, plain_name(child.kernel),
                  fmt::format("the instruction budget is used up after {} launches by kernels",
                              result.statistics.device_launches));
      result.fault = std::move(stopped.fault);
      break;
    }
    options.instruction_budget = budget - used;
    LaunchResult part = launch_grid(program, child, options, open);
    result.fault = std::move(part.fault);
    result.printed += part.printed;
    result.output_flood = result.output_flood || part.output_flood;
    result.statistics += part.statistics;
    ++result.statistics.device_launches;
  }
  return result;
}

std::optional<Finding> Machine::refusal(const Program& program, const LaunchConfig& config) {
  LaunchState launch;
  return prepare(launch, program, config, state_->options);
}

void Machine::interrupt() {
  const std::lock_guard lock(state_->launches);
  state_->interrupted = true;
  for (LaunchState* const launch : state_->running)
    launch->stop = true;
}

std::optional<Finding> Machine::prepare(LaunchState& launch, const Program& program,
                                        const LaunchConfig& config, const MachineOptions& options) {
  const auto info = find_kernel(program, config.kernel);
  if (!info)
    return refused(FindingKind::unknown_kernel, config.kernel, format_error(info.error())).fault;
  if (const auto target = ptx::parse_target(program.module.target))
    if (const auto problem = ptx::why_not_on(*target, state_->gpu))
      return refused(FindingKind::invalid_ptx, info->demangled,
                     fmt::format("{}:{}: {}", program.file, program.module.target_line, *problem))
          .fault;
  if (config.parameters.size() != info->parameter_bytes)
    return refused(FindingKind::bad_argument, info->demangled,
                   fmt::format("{} takes {} bytes of parameters, {} were given", info->demangled,
                               info->parameter_bytes, config.parameters.size()))
        .fault;
  const auto instance = state_->instance(program);
  if (!instance)
    return refused(FindingKind::memory_limit, info->demangled, format_error(instance.error()))
        .fault;

  launch.program = &program;
  launch.kernel = &program.codes[program.function_of.find(info->name)->second];
  launch.kernel_name = info->demangled;
  launch.config = &config;
  launch.gpu = &state_->gpu;
  launch.options = &options;
  launch.memory = &state_->memory;
  launch.textures = &state_->textures;
  launch.sanitize = options.sanitize;
  launch.counts_memory = options.count_memory || !config.tallies.empty();
  launch.parameters = config.parameters;
  launch.addresses = **instance;
  measure(launch);
  return check_limits(launch);
}

LaunchResult Machine::launch_grid(const Program& program, const LaunchConfig& config,
                                  const MachineOptions& options,
                                  std::vector<DeviceLaunch>& launched) {
  LaunchState launch;
  if (auto fault = prepare(launch, program, config, options)) {
    LaunchResult result;
    result.fault = std::move(fault);
    return result;
  }
  if (options.granule != 0)
    launch.shared_bytes = (launch.shared_bytes + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  reserve_shared(launch);
  launch.images.resize(program.codes.size());
  for (const std::uint32_t function : reachable_functions(program, launch.kernel->index))
    launch.images[function] = frame_image(launch, program.codes[function]);
  appoint_observers(launch);
  launch.started = std::chrono::steady_clock::now();
  launch.processor_started = process_seconds();

  const auto workspace = prepare_grid_barrier(launch);
  state_->memory.enter();
  {
    const std::lock_guard lock(state_->launches);
    state_->running.insert(&launch);
    launch.stop = state_->interrupted;
  }
  run_grid(launch);
  {
    const std::lock_guard lock(state_->launches);
    state_->running.erase(&launch);
  }
  state_->memory.leave();
  if (workspace)
    state_->memory.free(*workspace);
  std::vector<DeviceLaunch> children = launch.children.take();
  std::move(children.rbegin(), children.rend(), std::back_inserter(launched));
  return take_result(launch);
}

} // namespace kernevo::vgpu
