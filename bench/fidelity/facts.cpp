// Job lines in, fact lines out: compiles a kernel, profiles some of its blocks on the virtual GPU
// and says what its machine instructions did.
#include "kernevo/base/files.h"
#include "kernevo/cli/run_arguments.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/predict/l1_share.h"
#include "kernevo/predict/machine_work.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/sass/opcode_table.h"
#include "kernevo/toolchain/toolchain.h"
#include "kernevo/vgpu/machine.h"

#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <string>

using namespace kernevo;

namespace {

Json registers_json(const std::vector<sass::Registers>& registers) {
  Json json = Json::array();
  for (const sass::Registers& r : registers)
    json.push_back({static_cast<int>(r.file), r.first, r.count});
  return json;
}

Json instruction_json(const sass::SassInstruction& i, const sass::ExecutionCounts& c,
                      std::size_t block) {
  Json j;
  j["op"] = i.opcode;
  if (!i.modifiers.empty())
    j["mod"] = i.modifiers;
  j["c"] = {i.control.stall, i.control.write_barrier.value_or(-1),
            i.control.read_barrier.value_or(-1), i.control.wait_mask, i.control.yield ? 1 : 0};
  j["pipe"] = sass::name_of(sass::pipe_of(i));

  j["n"] = {c.warps, c.threads, c.threads_on};
  j["b"] = block;
  j["line"] = i.ptx_line.value_or(0);
  j["d"] = registers_json(i.destinations);
  j["s"] = registers_json(i.sources);
  if (i.guard)
    j["g"] = i.guard->index;
  if (i.memory)
    j["m"] = {static_cast<int>(i.memory->space), i.memory->bytes, i.memory->load, i.memory->store,
              i.memory->atomic};
  return j;
}

Result<Json> facts_of(const Json& job) {
  KERNEVO_TRY(gpu, find_gpu(job.at("gpu").get<std::string>()));
  KERNEVO_TRY(toolchain, find_toolchain());
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
  if (!build.ok) {
    for (const Diagnostic& d : build.diagnostics)
      if (d.severity == Diagnostic::Severity::error)
        return fail(ErrorCode::input, d.message, d.place);
    return fail(ErrorCode::input, "does not compile");
  }
  KERNEVO_TRY(program, vgpu::load_program(build.ptx, request.file));
  const std::string name = job.at("kernel").get<std::string>();
  const auto lowered = build.lowered_names.find(name);
  KERNEVO_TRY(kernel, vgpu::find_kernel(
                          *program, lowered == build.lowered_names.end() ? name : lowered->second));
  const KernelResources* resources = build.resources_of(kernel.name);
  if (resources == nullptr || !resources->registers)
    return fail(ErrorCode::input, "no resources");

  vgpu::LaunchConfig config;
  config.kernel = kernel.name;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    config.grid.at(axis) = job.at("grid").at(axis).get<std::uint32_t>();
    config.block.at(axis) = job.at("block").at(axis).get<std::uint32_t>();
  }
  config.dynamic_shared = job.value("shared", 0U);
  config.registers_per_thread = *resources->registers;
  config.only_blocks = choose_blocks(config.grid, job.value("blocks", 16U), 1);
  const Bytes shared{kernel.static_shared + config.dynamic_shared};
  const auto threads = static_cast<int>(config.block[0] * config.block[1] * config.block[2]);
  KERNEVO_TRY(occupancy, compute_occupancy(gpu, threads, *resources->registers, shared));
  const Bytes l1 = l1_share(gpu, occupancy, shared);
  vgpu::MachineOptions options;
  options.seconds = 120;
  options.cores = 1;
  vgpu::Machine machine(gpu, options);
  machine.profile(l1.value);
  config.parameters.resize(kernel.parameter_bytes);
  const Json& arguments = job.at("args");
  if (arguments.size() != kernel.parameters.size())
    return fail(ErrorCode::input, fmt::format("{} parameters", kernel.parameters.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    KERNEVO_TRY(argument, cli::parse_run_argument(arguments[i].get<std::string>()));
    const auto& parameter = kernel.parameters[i];
    if (!argument.buffer) {
      std::memcpy(config.parameters.data() + parameter.offset, argument.bytes.data(),
                  argument.bytes.size());
      continue;
    }
    KERNEVO_TRY(pointer, machine.allocate(argument.bytes.size(), fmt::format("{}", i), {}));
    std::memcpy(machine.bytes(pointer).data(), argument.bytes.data(), argument.bytes.size());
    std::memcpy(config.parameters.data() + parameter.offset, &pointer, sizeof pointer);
  }
  const auto start = std::chrono::steady_clock::now();
  const vgpu::LaunchResult result = machine.launch(*program, config);
  const double ran =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result.fault)
    return fail(ErrorCode::input, result.fault->message);
  sass::DisassembleOptions how;
  how.architecture = request.architecture;
  how.flags = request.flags;
  KERNEVO_TRY(module, sass::disassemble(toolchain, build.ptx, how));
  const sass::SassFunction* function = module.find(kernel.name);
  if (function == nullptr)
    return fail(ErrorCode::input, "no machine code");
  const MachineWork work = find_machine_work(*function, build.ptx, *result.counts);

  Json facts;
  facts["registers"] = *resources->registers;
  facts["spill"] = resources->spill_loads.value_or(Bytes{0}).value;
  facts["shared"] = shared.value;
  facts["blocks_per_sm"] = occupancy.blocks_per_multiprocessor;
  facts["l1_share"] = l1.value;
  facts["grid"] = config.grid;
  facts["block"] = config.block;
  facts["counted"] = result.counts->blocks.size();
  facts["seconds"] = ran;
  facts["residual"] = work.join.residual;
  facts["assumed"] = work.join.assumed;
  facts["counts"] = Json::parse(to_json(*result.counts));
  facts["sass"] = Json::array();
  for (std::size_t k = 0; k < work.function.instructions.size(); ++k)
    if (work.flow.blocks[work.flow.block_of[k]].reachable)
      facts["sass"].push_back(instruction_json(work.function.instructions[k],
                                               work.join.instructions[k], work.flow.block_of[k]));
  facts["edges"] = Json::array();
  for (std::size_t e = 0; e < work.flow.edges.size(); ++e)
    facts["edges"].push_back(
        {work.flow.edges[e].from, work.flow.edges[e].to, work.join.edge_threads[e]});
  return facts;
}

} // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Json job = Json::parse(line);
    const auto start = std::chrono::steady_clock::now();
    auto facts = facts_of(job);
    Json answer{{"id", job.at("id")}, {"gpu", job.at("gpu")}};
    if (job.contains("ms"))
      answer["ms"] = job.at("ms");
    if (job.contains("config"))
      answer["config"] = job.at("config");
    if (facts)
      answer["facts"] = std::move(*facts);
    else
      answer["error"] = format_error(facts.error());
    answer["took"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
