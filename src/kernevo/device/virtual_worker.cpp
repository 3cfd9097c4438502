// The worker's side: confined, it loads a module and runs plans on the virtual GPU.
#include "kernevo/base/sandbox.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/device/launch_arguments.h"
#include "kernevo/device/messages.h"
#include "kernevo/device/virtual_device.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/hardware/own_gpus.h"
#include "kernevo/model/block_tally.h"
#include "kernevo/ptx/facts.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/tier/object_store.h"
#include "kernevo/vgpu/tier/plugin.h"
#include "kernevo/vgpu/tier/tier.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace kernevo {
namespace {

// Room for the program, the parsed module, thread stacks and the arena's gaps beside the kernel's
// own memory.
constexpr std::uint64_t kOverhead = std::uint64_t{4} << 30U;
// A NaN in every floating format: as the judge fills outputs that are not made on demand.
constexpr int kPoison = 0xFF;

Finding finding_from(const Error& error) {
  Finding finding;
  finding.kind = error.code == ErrorCode::unsupported ? FindingKind::unsupported_instruction
                                                      : FindingKind::invalid_ptx;
  finding.message = format_error(error);
  if (error.place)
    finding.ptx_line = error.place->line;
  return finding;
}

tl::unexpected<Finding> refused(FindingKind kind, const Launch& launch, std::string message) {
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  finding.kernel = launch.kernel;
  finding.source_file = launch.place.file;
  finding.source_line = launch.place.line;
  return tl::unexpected<Finding>(std::move(finding));
}

class Session {
public:
  Session(Gpu gpu, std::uint64_t memory_bytes, bool compiles)
      : gpu_(std::move(gpu)), memory_bytes_(memory_bytes), compiles_(compiles) {}

  RunOutcome load(const LoadMessage& message) {
    auto program = vgpu::load_program(message.ptx, message.file);
    if (!program)
      return RunOutcome::stopped_by(finding_from(program.error()));
    program_ = std::move(*program);
    blocks_meet_ = ptx::blocks_may_meet(ptx::facts_of(program_->module));
    kept_.reset();
    vgpu::Objects known;
    for (const auto& [key, bytes] : message.code)
      known[{program_->text_hash, key}] = bytes;
    store_ = std::make_shared<vgpu::MemoryStore>(std::move(known));
    vgpu::set_object_store(store_);
    return {};
  }

  // Compiled since the last call.
  MachineCode take_code() {
    MachineCode code;
    if (store_)
      for (auto& [key, bytes] : store_->take_new())
        code[key.object] = std::move(bytes);
    return code;
  }

  Result<RunOutcome> run(const RunMessage& message, FileDescriptor memory) {
    if (!program_)
      return fail(ErrorCode::infrastructure, "no module is loaded");
    KERNEVO_TRY(arena, Arena::attach(std::move(memory), message.regions));
    const RunRequest& request = message.request;
    const Instruments& instruments = request.instruments;
    if (!instruments.on_demand && instruments.only_blocks.empty())
      arena.expect_whole_use();
    if (instruments.go_on && !kept_)
      return fail(ErrorCode::infrastructure, "no run has left a state to go on with");
    Kept run = instruments.go_on ? std::move(*kept_)
                                 : Kept{vgpu::Machine(gpu_, options_of(request)), {}, {}};
    kept_.reset();
    vgpu::Machine& machine = run.machine;
    machine.order(block_order(instruments), instruments.order.seed);
    if (instruments.scramble)
      machine.forget_changes(*program_, instruments.order.seed);
    std::vector<vgpu::DevicePointer> pointers;
    for (const TensorBinding& tensor : request.tensors) {
      KERNEVO_TRY(pointer, machine.adopt(arena.region(tensor.region), tensor.name,
                                         use_of(tensor, request, arena)));
      pointers.push_back(pointer);
    }
    const std::vector<vgpu::DevicePointer> tensors = pointers;
    if (auto finding = lend_scratch(request.plan.scratch, runs_apart(request), run))
      return RunOutcome::stopped_by(std::move(*finding));
    pointers.insert(pointers.end(), run.scratch_pointers.begin(), run.scratch_pointers.end());

    RunOutcome outcome;
    for (std::size_t i = 0; i < request.plan.launches.size(); ++i) {
      const Instruments::Profile* profile =
          i < instruments.profile.size() ? &instruments.profile[i] : nullptr;
      machine.profile(profile == nullptr ? std::nullopt : std::optional(profile->l1_bytes));
      BlockChoice choice;
      choice.only = profile == nullptr    ? instruments.only_blocks
                    : profile->in_company ? std::vector<std::uint64_t>{}
                                          : profile->blocks;
      if (profile != nullptr)
        choice.counted = counted_blocks(*profile);
      if (i < instruments.tally_regions.size())
        choice.tallies = tallies_in(arena.region(instruments.tally_regions[i]));
      if (!run_launch(machine, request.plan.launches[i], request, choice, pointers, outcome))
        break;
    }
    if (instruments.keep_state && !outcome.fault) {
      outcome.changed_variables = machine.changed_variables(*program_);
      for (const vgpu::DevicePointer tensor : tensors)
        machine.free(tensor); // their memory ends with the arena
      kept_ = std::move(run);
    }
    return outcome;
  }

private:
  // Blocks that run without most of the others, as if each were alone: they may read nothing that
  // another writes, or they would see whether it runs.
  bool runs_apart(const RunRequest& request) const {
    return request.instruments.on_demand && request.plan.launches.size() == 1 && !blocks_meet_;
  }

  static vgpu::BlockOrder block_order(const Instruments& instruments) {
    return instruments.order.shuffled ? vgpu::BlockOrder::shuffled : vgpu::BlockOrder::in_order;
  }

  // Which blocks of a launch run, which are counted, and where each says what it did.
  struct BlockChoice {
    std::vector<std::uint64_t> only;
    std::vector<vgpu::LaunchConfig::Counted> counted;
    std::span<BlockTally> tallies;
  };

  static std::vector<vgpu::LaunchConfig::Counted>
  counted_blocks(const Instruments::Profile& profile) {
    std::vector<vgpu::LaunchConfig::Counted> counted;
    for (std::size_t i = 0; i < profile.blocks.size(); ++i)
      counted.push_back({profile.blocks[i], i < profile.weights.size() ? profile.weights[i] : 1.0});
    return counted;
  }

  static std::span<BlockTally> tallies_in(std::span<std::byte> region) {
    return {reinterpret_cast<BlockTally*>(region.data()), // NOLINT
            region.size() / sizeof(BlockTally)};
  }

  // A machine between two runs of a plan, with the scratch buffers that both use.
  struct Kept {
    vgpu::Machine machine;
    std::vector<ScratchBuffer> scratch;
    std::vector<vgpu::DevicePointer> scratch_pointers;
  };

  // Those of the run before, with what it left in them, if they are the same.
  static std::optional<Finding> lend_scratch(const std::vector<ScratchBuffer>& wanted, bool strict,
                                             Kept& run) {
    const bool same =
        std::ranges::equal(wanted, run.scratch, [](const ScratchBuffer& a, const ScratchBuffer& b) {
          return a.name == b.name && a.bytes() == b.bytes();
        });
    if (same) {
      for (const vgpu::DevicePointer kept : run.scratch_pointers)
        run.machine.forget(kept);
      return std::nullopt;
    }
    for (const vgpu::DevicePointer old : run.scratch_pointers)
      run.machine.free(old);
    run.scratch_pointers.clear();
    run.scratch = wanted;
    for (const ScratchBuffer& scratch : wanted) {
      auto pointer = run.machine.allocate(scratch.bytes(), scratch.name,
                                          {.initialized = false, .strict = strict});
      if (!pointer) {
        Finding finding;
        finding.kind = FindingKind::memory_limit;
        finding.message = fmt::format("scratch buffer '{}' of {} bytes: {}", scratch.name,
                                      scratch.bytes(), pointer.error().message);
        return finding;
      }
      run.scratch_pointers.push_back(*pointer);
    }
    return std::nullopt;
  }

  vgpu::MachineOptions options_of(const RunRequest& request) const {
    const Instruments& instruments = request.instruments;
    vgpu::MachineOptions options;
    options.sanitize = instruments.sanitize;
    options.memory_limit = memory_bytes_;
    options.processor_seconds = request.seconds;
    if (!compiles_)
      options.tier = vgpu::Tier::interpreter;
    if (request.instruction_budget > 0)
      options.instruction_budget = request.instruction_budget;
    return options;
  }

  vgpu::AllocationOptions use_of(const TensorBinding& tensor, const RunRequest& request,
                                 const Arena& arena) const {
    vgpu::AllocationOptions use{.read_only = tensor.read_only,
                                .initialized = tensor.initialized,
                                .strict = runs_apart(request)};
    if (tensor.written_region)
      use.written = arena.region(*tensor.written_region);
    use.fill_limit = memory_bytes_;
    if (tensor.recipe)
      use.fill = [recipe = *tensor.recipe](std::uint64_t offset, std::span<std::byte> bytes) {
        fill_elements(recipe, offset / size_of(recipe.dtype), bytes);
      };
    else if (request.instruments.on_demand && !tensor.initialized)
      use.fill = [](std::uint64_t, std::span<std::byte> bytes) {
        std::memset(bytes.data(), kPoison, bytes.size());
      };
    return use;
  }

  // False when the launch faulted.
  bool run_launch(vgpu::Machine& machine, const Launch& launch, const RunRequest& request,
                  const BlockChoice& choice, const std::vector<vgpu::DevicePointer>& pointers,
                  RunOutcome& outcome) {
    auto config = config_of(launch, request, pointers);
    if (!config) {
      outcome.fault = std::move(config.error());
      return false;
    }
    config->only_blocks = choice.only;
    config->counted = choice.counted;
    const std::uint64_t blocks = std::uint64_t{config->grid[0]} * config->grid[1] * config->grid[2];
    if (choice.tallies.size() >= blocks)
      config->tallies = choice.tallies;
    vgpu::LaunchResult result = machine.launch(*program_, *config);
    outcome.printed += result.printed;
    outcome.output_flood = outcome.output_flood || result.output_flood;
    outcome.warp_instructions += result.statistics.warp_instructions;
    outcome.compiled_instructions += result.statistics.compiled_instructions;
    outcome.blocks_run += result.statistics.blocks_run;
    if (result.counts)
      outcome.counts.push_back(std::move(*result.counts));
    if (!result.fault)
      return true;
    outcome.fault = std::move(result.fault);
    if (outcome.fault->kind == FindingKind::launch_limit && outcome.fault->source_line == 0) {
      outcome.fault->source_file = launch.place.file;
      outcome.fault->source_line = launch.place.line;
    }
    return false;
  }

  // The launch as the machine takes it, or why it cannot be made.
  tl::expected<vgpu::LaunchConfig, Finding>
  config_of(const Launch& launch, const RunRequest& request,
            const std::vector<vgpu::DevicePointer>& pointers) const {
    const auto entry = request.entry_names.find(launch.kernel);
    const auto kernel = vgpu::find_kernel(
        *program_, entry == request.entry_names.end() ? launch.kernel : entry->second);
    if (!kernel)
      return refused(FindingKind::unknown_kernel, launch, format_error(kernel.error()));
    if (kernel->parameters.size() != launch.arguments.size())
      return refused(
          FindingKind::bad_argument, launch,
          fmt::format("the launch of '{}' passes {} arguments, but the kernel has {} parameters",
                      launch.kernel, launch.arguments.size(), kernel->parameters.size()));
    vgpu::LaunchConfig config;
    config.kernel = kernel->name;
    config.cooperative = launch.cooperative;
    config.parameters.resize(kernel->parameter_bytes);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (const auto problem = put_argument(launch.arguments[i], kernel->parameters[i], i, pointers,
                                            config.parameters))
        return refused(FindingKind::bad_argument, launch,
                       fmt::format("launch of '{}': {}", launch.kernel, *problem));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
      if (launch.grid.at(axis) < 1 || launch.grid.at(axis) > most || launch.block.at(axis) < 1 ||
          launch.block.at(axis) > most || launch.dynamic_shared < 0 || launch.dynamic_shared > most)
        return refused(
            FindingKind::launch_limit, launch,
            fmt::format(
                "launch of '{}' with grid ({}, {}, {}), block ({}, {}, {}) and {} bytes of shared "
                "memory: every size must be between 1 and 2^32-1",
                launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                launch.block[1], launch.block[2], launch.dynamic_shared));
      config.grid.at(axis) = static_cast<std::uint32_t>(launch.grid.at(axis));
      config.block.at(axis) = static_cast<std::uint32_t>(launch.block.at(axis));
    }
    config.dynamic_shared = static_cast<std::uint32_t>(launch.dynamic_shared);
    if (const auto registers = request.registers.find(launch.kernel);
        registers != request.registers.end())
      config.registers_per_thread = registers->second;
    return config;
  }

  Gpu gpu_;
  std::uint64_t memory_bytes_;
  bool compiles_;
  std::shared_ptr<const vgpu::Program> program_;
  bool blocks_meet_ = false; // they may, by its instructions
  std::shared_ptr<vgpu::MemoryStore> store_;
  std::optional<Kept> kept_;
};

RunOutcome out_of_memory() {
  Finding finding;
  finding.kind = FindingKind::memory_limit;
  finding.message = "the kernel needs more memory than its limit";
  return RunOutcome::stopped_by(std::move(finding));
}

int serve_virtual_device(bool compiles) {
  WorkerChannel channel;
  std::optional<Message> first = channel.receive();
  if (!first)
    return 0;
  auto open = decode_open(first->text);
  if (!open)
    return 3;
  // Read by the nursery, before the doors close. The limit counts the kernel's tensors (in the
  // arena) and its scratch (here) separately.
  auto gpu = find_gpu(open->gpu);
  if (!gpu) {
    channel.send(encode(Result<RunOutcome>(tl::unexpected<Error>(gpu.error()))));
    return 3;
  }
  if (auto confined = confine_this_process(
          Confinement::execute,
          {.address_space = 2 * open->memory_bytes + open->arena_bytes + kOverhead});
      !confined) {
    channel.send(encode(Result<RunOutcome>(tl::unexpected<Error>(confined.error()))));
    return 3;
  }
  channel.send(encode(Result<RunOutcome>(RunOutcome{})));
  Session session(std::move(*gpu), open->memory_bytes, compiles);
  while (std::optional<Message> message = channel.receive()) {
    Result<RunOutcome> outcome = out_of_memory();
    try {
      if (kind_of_message(message->text) == "load") {
        auto load = decode_load(message->text);
        outcome =
            load ? Result<RunOutcome>(session.load(*load)) : tl::unexpected<Error>(load.error());
      } else {
        auto run = decode_run(message->text);
        outcome = run ? session.run(*run, std::move(message->attached))
                      : tl::unexpected<Error>(run.error());
      }
    } catch (const std::bad_alloc&) { // the one library exception a hostile module can provoke
      outcome = out_of_memory();
    }
    if (!channel.send(encode(outcome, session.take_code())))
      return 0;
  }
  return 0;
}

} // namespace

WorkerRole virtual_device_role() {
  auto compiles = std::make_shared<bool>(false);
  return {[compiles](std::string compiler) {
            compiler.erase(0, use_table_places(compiler));
            known_gpus();
            // Without the compiler everything runs, only slower.
            *compiles = !compiler.empty() && vgpu::load_compiler(compiler);
          },
          [compiles] { return serve_virtual_device(*compiles); }};
}

} // namespace kernevo
