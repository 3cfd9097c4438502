// kernevo run FILE: one kernel, with given buffers, on the virtual GPU.
#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/run_prediction.h"
#include "kernevo/cli/run_report.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/kernel/argument_text.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/predict/l1_share.h"
#include "kernevo/toolchain/compile_worker.h"
#include "kernevo/toolchain/toolchain.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/program/kernels.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string file;
  std::string kernel;
  std::string grid = "1";
  std::string block = "1";
  std::uint32_t shared = 0;
  std::vector<std::string> arguments;
  std::string gpu = "A100";
  std::vector<std::string> defines;
  bool sanitize = false;
  bool cooperative = false;
  bool load_only = false;
  std::uint64_t profile_blocks = 0;
  int cores = 0;
  double seconds = 60;
};

struct Prepared {
  Gpu gpu;
  std::shared_ptr<const vgpu::Program> program;
  std::string kernel; // as in the PTX
  std::string ptx;
};

Result<std::string> compile_to_ptx(const Options& options, const Gpu& gpu, std::string source,
                                   std::string& kernel) {
  KERNEVO_TRY(toolchain, find_toolchain());
  CompileRequest request;
  request.source = std::move(source);
  request.file = options.file;
  request.architecture = nearest_architecture(toolchain, gpu.compute_capability);
  request.resources = false;
  request.macros = parse_defines(options.defines);
  if (kernel.find('<') != std::string::npos)
    request.name_expressions.push_back(kernel);
  KERNEVO_TRY(build, build_or_fail(request));
  if (const auto lowered = build.lowered_names.find(kernel); lowered != build.lowered_names.end())
    kernel = lowered->second;
  return build.ptx;
}

Result<Prepared> prepare(const Options& options) {
  Prepared prepared;
  KERNEVO_TRY(gpu, find_gpu(options.gpu));
  prepared.gpu = gpu;
  prepared.kernel = options.kernel;
  KERNEVO_TRY(text, read_text_file(options.file));
  if (text.starts_with("\x7f"
                       "ELF"))
    return fail(ErrorCode::input, fmt::format("'{}' is a program, not a kernel", options.file),
                std::nullopt, fmt::format("kernevo run --gpu {} -- {}", options.gpu, options.file));
  std::string ptx = std::move(text);
  if (!options.file.ends_with(".ptx")) {
    KERNEVO_TRY(compiled, compile_to_ptx(options, gpu, std::move(ptx), prepared.kernel));
    ptx = std::move(compiled);
  }
  KERNEVO_TRY(program, vgpu::load_program(ptx, options.file));
  prepared.program = program;
  prepared.ptx = std::move(ptx);
  return prepared;
}

std::vector<std::string> names(const std::vector<vgpu::KernelInfo>& kernels) {
  std::vector<std::string> result;
  result.reserve(kernels.size());
  for (const vgpu::KernelInfo& kernel : kernels)
    result.push_back(kernel.demangled);
  return result;
}

Result<vgpu::KernelInfo> choose_kernel(const Options& options, const Prepared& prepared) {
  const auto kernels = vgpu::kernels_of(*prepared.program);
  if (kernels.empty())
    return fail(ErrorCode::input, options.file + " has no kernel");
  if (!prepared.kernel.empty())
    return vgpu::find_kernel(*prepared.program, prepared.kernel);
  if (kernels.size() > 1)
    return fail(ErrorCode::usage,
                fmt::format("{} has {} kernels: {}", options.file, kernels.size(),
                            fmt::join(names(kernels), ", ")),
                std::nullopt, "choose one with --kernel");
  return kernels.front();
}

int list_kernels(const Options& options, const Prepared& prepared) {
  const auto kernels = vgpu::kernels_of(*prepared.program);
  if (options.common.json) {
    Json json{{"file", options.file}, {"kernels", Json::array()}};
    for (const vgpu::KernelInfo& kernel : kernels)
      json["kernels"].push_back({{"name", kernel.name},
                                 {"plain_name", kernel.demangled},
                                 {"parameters", kernel.parameters.size()},
                                 {"static_shared_bytes", kernel.static_shared},
                                 {"instructions", kernel.instructions}});
    fmt::print("{}\n", json.dump(2));
    return kYes;
  }
  std::vector<std::vector<std::string>> rows;
  for (const vgpu::KernelInfo& kernel : kernels)
    rows.push_back({kernel.demangled, fmt::format("{} parameters", kernel.parameters.size()),
                    fmt::format("{} instructions", kernel.instructions),
                    fmt::format("{} B shared", kernel.static_shared)});
  fmt::print("{} loads: {} kernels\n{}", options.file, kernels.size(),
             options.common.quiet ? "" : table(rows));
  return kYes;
}

// The parameter buffer, and device memory for the arguments that are buffers.
Result<std::vector<RunBuffer>> place_arguments(const vgpu::KernelInfo& kernel,
                                               const std::vector<RunArgument>& arguments,
                                               vgpu::Machine& machine,
                                               std::vector<std::byte>& parameters) {
  if (arguments.size() != kernel.parameters.size())
    return fail(ErrorCode::usage,
                fmt::format("{} takes {} arguments, {} were given", kernel.demangled,
                            kernel.parameters.size(), arguments.size()),
                std::nullopt, "give one --arg for each");
  parameters.resize(kernel.parameter_bytes);
  std::vector<RunBuffer> buffers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const RunArgument& argument = arguments[i];
    const auto& parameter = kernel.parameters[i];
    const std::size_t bytes = argument.buffer ? sizeof(vgpu::DevicePointer) : argument.bytes.size();
    if (bytes != parameter.size)
      return fail(ErrorCode::usage, fmt::format("argument {} has {} bytes, {} takes {} there",
                                                i + 1, bytes, kernel.demangled, parameter.size));
    if (!argument.buffer) {
      std::memcpy(parameters.data() + parameter.offset, argument.bytes.data(), bytes);
      continue;
    }
    vgpu::AllocationOptions allocation;
    allocation.read_only = !argument.writable;
    KERNEVO_TRY(pointer, machine.allocate(argument.bytes.size(), fmt::format("argument {}", i + 1),
                                          allocation));
    std::memcpy(machine.bytes(pointer).data(), argument.bytes.data(), argument.bytes.size());
    std::memcpy(parameters.data() + parameter.offset, &pointer, sizeof pointer);
    buffers.push_back({i, pointer});
  }
  return buffers;
}

constexpr std::uint64_t kProfileSeed = 1;

Result<void> save_buffers(const std::vector<RunArgument>& arguments,
                          const std::vector<RunBuffer>& buffers, vgpu::Machine& machine) {
  for (const RunBuffer& buffer : buffers) {
    const RunArgument& argument = arguments[buffer.argument];
    const auto bytes = machine.bytes(buffer.pointer);
    if (!argument.save_to.empty())
      KERNEVO_CHECK(write_file_atomically(
          argument.save_to, {reinterpret_cast<const char*>(bytes.data()), bytes.size()})); // NOLINT
  }
  return {};
}

Result<int> run(const Options& options) {
  // What is cheap to refuse comes before the compiler.
  KERNEVO_TRY(grid, parse_extents(options.grid));
  KERNEVO_TRY(block, parse_extents(options.block));
  std::vector<RunArgument> arguments;
  for (const std::string& text : options.arguments) {
    KERNEVO_TRY(argument, parse_run_argument(text));
    arguments.push_back(std::move(argument));
  }
  KERNEVO_TRY(prepared, prepare(options));
  if (options.load_only)
    return list_kernels(options, prepared);
  KERNEVO_TRY(kernel, choose_kernel(options, prepared));

  vgpu::MachineOptions machine_options;
  machine_options.sanitize = options.sanitize;
  machine_options.cores = options.cores;
  machine_options.seconds = options.seconds;
  vgpu::Machine machine(prepared.gpu, machine_options);
  vgpu::LaunchConfig config;
  config.kernel = kernel.name;
  std::copy_n(grid.begin(), 3, config.grid.begin());
  std::copy_n(block.begin(), 3, config.block.begin());
  config.dynamic_shared = options.shared;
  config.cooperative = options.cooperative;
  if (options.profile_blocks > 0) {
    config.only_blocks = choose_blocks(config.grid, options.profile_blocks, kProfileSeed);
    KERNEVO_TRY(share, l1_share_of_launch(prepared.gpu,
                                          std::uint64_t{config.block[0]} * config.block[1] *
                                              config.block[2],
                                          Bytes{kernel.static_shared + config.dynamic_shared}));
    machine.profile(share.value);
  }
  KERNEVO_TRY(buffers, place_arguments(kernel, arguments, machine, config.parameters));
  const vgpu::LaunchResult result = machine.launch(*prepared.program, config);
  KERNEVO_CHECK(save_buffers(arguments, buffers, machine));
  std::optional<Prediction> prediction;
  if (result.counts && !result.fault) {
    KERNEVO_TRY(predicted, predict_run(prepared.ptx, kernel.name, prepared.gpu, *result.counts));
    prediction = std::move(predicted);
  }
  print_run({kernel, result, arguments, buffers, machine, prediction}, options.common);
  return result.fault ? kNo : kYes;
}

} // namespace

Command add_run(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "run", "Run one kernel of a .ptx or .cu file on the virtual GPU with given buffers");
  command->add_option("FILE", options->file, "PTX (.ptx) or CUDA device code")->required();
  command->add_option("--kernel", options->kernel,
                      "Which kernel, as in the source or mangled; needed when there are several");
  command->add_option("--grid", options->grid, "Blocks: X[,Y[,Z]]")->capture_default_str();
  command->add_option("--block", options->block, "Threads of a block: X[,Y[,Z]]")
      ->capture_default_str();
  command->add_option("--shared", options->shared, "Dynamic shared memory, in bytes");
  command
      ->add_option("-a,--arg", options->arguments,
                   "An argument, in order: i32:5, f32:1.5, in:f32:FILE, inout:f32:FILE[:RESULT], "
                   "out:f32:COUNT[:RESULT], struct:FILE")
      ->allow_extra_args(false);
  command->add_option("--gpu", options->gpu, "Named GPU")->capture_default_str();
  command->add_option("-D", options->defines, "Macro for the compiler, NAME[=VALUE]")
      ->allow_extra_args(false);
  command->add_option("--cores", options->cores, "Cores of this machine to use; 0 = all")
      ->in_range(0, 1024);
  command->add_option("--seconds", options->seconds, "Wall-clock limit")
      ->capture_default_str()
      ->in_range(0.1, 86400.0);
  command->add_flag("--sanitize", options->sanitize,
                    "Find races and reads of memory nobody wrote (one core, slower)");
  command->add_flag("--cooperative", options->cooperative, "A cooperative launch (grid.sync())");
  command->add_option(
      "--profile", options->profile_blocks,
      "Count what the kernel does, on about so many of its blocks (only those run), and "
      "predict its time");
  command->add_flag("--load-only", options->load_only, "Load the file and list its kernels");
  command->footer(
      "kernevo run [--gpu NAME] [--sanitize] [--profile] -- PROGRAM ARGS runs a whole CUDA "
      "program and ends with a table of its kernels.");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
