// Job lines in, prediction lines out: compiles a kernel, counts some of its blocks on the virtual
// GPU and predicts its time on every GPU the job names.
#include "kernevo/base/files.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/kernel/argument_text.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/predict/l1_share.h"
#include "kernevo/predict/machine_counters.h"
#include "kernevo/predict/predict.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/toolchain/toolchain.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/program/kernels.h"

#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <string>

namespace kernevo {
namespace {

constexpr double kSeconds = 300; // of one launch on the virtual GPU
constexpr std::uint64_t kSeed = 1;

Result<Build> build(const Json& job, const Toolchain& toolchain, const Gpu& gpu) {
  CompileRequest request;
  request.file = job.at("file").get<std::string>();
  KERNEVO_TRY(source, read_text_file(request.file));
  request.source = source;
  request.architecture = nearest_architecture(toolchain, gpu.compute_capability);
  for (const auto& [name, value] : job.at("defines").items())
    request.macros.emplace_back(name, value.get<std::string>());
  if (job.contains("flags"))
    request.flags = job.at("flags").get<std::vector<std::string>>();
  KERNEVO_TRY(build, compile(toolchain, request));
  for (const Diagnostic& d : build.diagnostics)
    if (!build.ok && d.severity == Diagnostic::Severity::error)
      return fail(ErrorCode::input, d.message, d.place);
  return build;
}

Result<LaunchCounts> count(const Json& job, const Gpu& gpu, const vgpu::Program& program,
                           const vgpu::KernelInfo& kernel, const KernelResources& resources) {
  vgpu::LaunchConfig config;
  config.kernel = kernel.name;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    config.grid.at(axis) = job.at("grid").at(axis).get<std::uint32_t>();
    config.block.at(axis) = job.at("block").at(axis).get<std::uint32_t>();
  }
  config.registers_per_thread = resources.registers.value_or(0);
  config.only_blocks = choose_blocks(config.grid, job.value("blocks", 8U), kSeed);
  const Bytes shared{kernel.static_shared};
  const auto threads = static_cast<int>(config.block[0] * config.block[1] * config.block[2]);
  KERNEVO_TRY(occupancy, compute_occupancy(gpu, threads, resources.registers.value_or(0), shared));
  vgpu::MachineOptions options;
  options.seconds = kSeconds;
  options.cores = 1;
  vgpu::Machine machine(gpu, options);
  machine.profile(l1_share(gpu, occupancy, shared).value);
  config.parameters.resize(kernel.parameter_bytes);
  const Json& arguments = job.at("args");
  if (arguments.size() != kernel.parameters.size())
    return fail(ErrorCode::input,
                fmt::format("the kernel has {} parameters", kernel.parameters.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    KERNEVO_TRY(argument, cli::parse_run_argument(arguments[i].get<std::string>()));
    std::byte* slot = config.parameters.data() + kernel.parameters[i].offset;
    if (!argument.buffer) {
      std::memcpy(slot, argument.bytes.data(), argument.bytes.size());
      continue;
    }
    KERNEVO_TRY(pointer, machine.allocate(argument.bytes.size(), fmt::format("{}", i), {}));
    std::memcpy(machine.bytes(pointer).data(), argument.bytes.data(), argument.bytes.size());
    std::memcpy(slot, &pointer, sizeof pointer);
  }
  vgpu::LaunchResult result = machine.launch(program, config);
  if (result.fault)
    return fail(ErrorCode::input, result.fault->message);
  return std::move(*result.counts);
}

Json prediction_json(const Prediction& p) {
  Json json{{"ms", p.time.value / 1e6}, {"waves", p.waves}, {"bounds_ms", Json::object()}};
  for (const TimingTerm& term : p.bounds)
    json["bounds_ms"][term.name] = term.time.value / 1e6;
  return json;
}

Result<Json> predict(const Json& job) {
  const auto gpus = job.at("gpus").get<std::vector<std::string>>();
  KERNEVO_TRY(gpu, find_gpu(gpus.front()));
  KERNEVO_TRY(toolchain, find_toolchain());
  KERNEVO_TRY(built, build(job, toolchain, gpu));
  KERNEVO_TRY(program, vgpu::load_program(built.ptx, job.at("file").get<std::string>()));
  const std::string name = job.at("kernel").get<std::string>();
  const auto lowered = built.lowered_names.find(name);
  KERNEVO_TRY(kernel, vgpu::find_kernel(
                          *program, lowered == built.lowered_names.end() ? name : lowered->second));
  const KernelResources* resources = built.resources_of(kernel.name);
  if (resources == nullptr)
    return fail(ErrorCode::input, "ptxas says nothing of the kernel");
  KERNEVO_TRY(counts, count(job, gpu, *program, kernel, *resources));
  sass::DisassembleOptions how;
  how.architecture = built.architecture;
  if (job.contains("flags"))
    how.flags = job.at("flags").get<std::vector<std::string>>();
  KERNEVO_TRY(module, sass::disassemble(toolchain, built.ptx, how));
  const sass::SassFunction* function = module.find(kernel.name);
  if (function == nullptr)
    return fail(ErrorCode::input, "no machine code");
  const MachineWork work = find_machine_work(*function, built.ptx, counts);
  Json answer{{"registers", resources->registers.value_or(0)},
              {"spilled_bytes", resources->spill_loads.value_or(Bytes{0}).value},
              {"counters", Json::object()},
              {"predicted", Json::object()}};
  for (const Counter& counter : machine_counters(counts, work).all)
    answer["counters"][counter.name] = counter.value;
  for (const std::string& one : gpus) {
    KERNEVO_TRY(named, find_gpu(one));
    KERNEVO_TRY(prediction, predict_launch(named, counts, *resources, &work));
    answer["predicted"][one] = prediction_json(prediction);
  }
  return answer;
}

} // namespace
} // namespace kernevo

int main() {
  using kernevo::Json;
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json job = Json::parse(line);
    auto answer = kernevo::predict(job);
    Json out = answer ? std::move(*answer) : Json{{"error", kernevo::format_error(answer.error())}};
    out["id"] = job.at("id");
    std::cout << out.dump() << std::endl;
  }
  return 0;
}
