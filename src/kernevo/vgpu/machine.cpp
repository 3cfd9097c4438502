#include "kernevo/vgpu/machine.h"

#include "kernevo/vgpu/address_windows.h"
#include "kernevo/vgpu/launch.h"

#include <cstring>
#include <fmt/format.h>
#include <map>

namespace kernevo::vgpu {
namespace {

// Module variables of a program in this machine's memory, by variable.
using Instance = std::vector<std::uint64_t>;

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

} // namespace

struct Machine::State {
  State(Gpu the_gpu, MachineOptions the_options)
      : gpu(std::move(the_gpu)), options(the_options),
        memory(options.memory_limit, options.sanitize) {}

  Gpu gpu;
  MachineOptions options;
  Memory memory;
  std::map<std::uint64_t, Instance> instances; // by Program::id
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

void Machine::free(DevicePointer pointer) {
  state_->memory.free(pointer);
}

std::span<std::byte> Machine::bytes(DevicePointer pointer) {
  const Allocation* found = state_->memory.find(pointer);
  if (found == nullptr)
    return {};
  return {reinterpret_cast<std::byte*>(found->base), found->bytes}; // NOLINT
}

std::span<const std::uint8_t> Machine::written(DevicePointer pointer) const {
  const Allocation* found = state_->memory.find(pointer);
  if (found == nullptr || found->written == nullptr)
    return {};
  return {found->written, found->bytes};
}

const Gpu& Machine::gpu() const {
  return state_->gpu;
}

LaunchResult Machine::launch(const Program& program, const LaunchConfig& config) {
  const auto info = find_kernel(program, config.kernel);
  if (!info)
    return refused(FindingKind::unknown_kernel, config.kernel, format_error(info.error()));
  if (config.parameters.size() != info->parameter_bytes)
    return refused(FindingKind::bad_argument, info->demangled,
                   fmt::format("{} takes {} bytes of parameters, {} were given", info->demangled,
                               info->parameter_bytes, config.parameters.size()));
  auto instance = state_->instances.find(program.id);
  if (instance == state_->instances.end()) {
    auto made = instantiate(state_->memory, program);
    if (!made)
      return refused(FindingKind::memory_limit, info->demangled, format_error(made.error()));
    instance = state_->instances.emplace(program.id, std::move(*made)).first;
  }

  LaunchState launch;
  launch.program = &program;
  launch.kernel = &program.codes[program.function_of.find(info->name)->second];
  launch.kernel_name = info->demangled;
  launch.config = &config;
  launch.gpu = &state_->gpu;
  launch.options = &state_->options;
  launch.memory = &state_->memory;
  launch.sanitize = state_->options.sanitize;
  launch.parameters = config.parameters;
  launch.addresses = instance->second;
  // 64-bit products of extents that check_limits() has yet to see cannot overflow into a small
  // count.
  const std::uint64_t threads = std::uint64_t{config.block[0]} * config.block[1] * config.block[2];
  launch.threads_per_block =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, 1U << 30U));
  launch.warps_per_block = (launch.threads_per_block + kWarpSize - 1) / kWarpSize;
  launch.grid_blocks = std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
  launch.shared = lay_out_shared(program, launch.kernel->index);
  launch.shared_bytes = config.dynamic_shared == 0
                            ? launch.shared.static_bytes
                            : launch.shared.dynamic_base + config.dynamic_shared;
  LaunchResult result;
  result.fault = check_limits(launch);
  if (result.fault)
    return result;
  launch.images.resize(program.codes.size());
  for (const std::uint32_t function : reachable_functions(program, launch.kernel->index))
    launch.images[function] = frame_image(launch, program.codes[function]);
  if (launch.sanitize)
    launch.races =
        std::make_unique<RaceDetector>(launch.grid_blocks, launch.warps_per_block, program.granule);
  launch.started = std::chrono::steady_clock::now();

  const auto workspace = prepare_grid_barrier(launch);
  run_grid(launch);
  if (workspace)
    state_->memory.free(*workspace);

  // What an uninitialised value led to (a wild address, an endless loop) is its consequence; only a
  // fault of synchronisation is its cause.
  const bool cause = launch.fault && (launch.fault->kind == FindingKind::shared_race ||
                                      launch.fault->kind == FindingKind::global_race ||
                                      launch.fault->kind == FindingKind::barrier_divergence);
  result.fault = launch.suspicion && !cause ? std::move(launch.suspicion) : std::move(launch.fault);
  result.printed = std::move(launch.printed);
  result.output_flood = launch.output_flood;
  result.statistics = {launch.blocks_run, launch.executed, launch.threads_executed};
  return result;
}

} // namespace kernevo::vgpu
