#include "kernevo/price/pricer.h"

#include "kernevo/explain/explain.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/register_limit.h"
#include "kernevo/predict/model_launch.h"
#include "kernevo/ptx/target.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/toolchain/assemble_text.h"

#include <utility>

namespace kernevo {
namespace {

// A module of more kernels is assembled kernel by kernel, as they are launched: libraries have
// hundreds and programs use few of them.
constexpr std::size_t kFewKernels = 4;

std::size_t count_entries(std::string_view ptx) {
  std::size_t entries = 0;
  for (std::size_t at = ptx.find(".entry "); at != std::string_view::npos;
       at = ptx.find(".entry ", at + 1))
    ++entries;
  return entries;
}

// A module for one architecture or family runs there alone; any other is assembled for the GPU.
std::string architecture_for(const Toolchain& toolchain, const Gpu& gpu, std::string_view ptx) {
  constexpr std::string_view mark = "\n.target ";
  if (const std::size_t at = ptx.find(mark); at != std::string_view::npos) {
    const std::size_t begin = at + mark.size();
    const std::size_t end = ptx.find_first_of(" ,\t\r\n", begin);
    const auto target = ptx::parse_target(ptx.substr(begin, end - begin));
    if (target && target->suffix != 0)
      return ptx::name_of(*target);
  }
  return nearest_architecture(toolchain, gpu.compute_capability);
}

} // namespace

Result<Pricer> Pricer::make(const std::string& gpu) {
  KERNEVO_TRY(found, find_gpu(gpu));
  KERNEVO_TRY(rules, load_rules());
  Pricer pricer(std::move(found), std::move(rules));
  if (auto toolchain = find_toolchain())
    pricer.toolchain_ = std::move(*toolchain);
  else
    pricer.no_toolchain_ = toolchain.error().message;
  return pricer;
}

void Pricer::add_module(std::uint64_t module, std::vector<std::string> texts) {
  Module made;
  made.texts = std::move(texts);
  made.whole = made.texts.size() != 1 || count_entries(made.texts.front()) <= kFewKernels;
  modules_.insert_or_assign(module, std::move(made));
}

Pricer::Code Pricer::assemble(const Module& module, const std::string& entry) const {
  if (module.texts.size() != 1)
    return {std::nullopt, "its module was linked of several"};
  if (!toolchain_)
    return {std::nullopt, no_toolchain_};
  const std::string& ptx = module.texts.front();
  sass::DisassembleOptions how;
  how.architecture = architecture_for(*toolchain_, gpu_, ptx);
  how.entry = entry;
  how.max_registers = register_limit(ptx);
  auto code = sass::disassemble(*toolchain_, ptx, how);
  if (!code)
    return {std::nullopt, code.error().message};
  return {std::move(*code), ""};
}

const Pricer::Code& Pricer::code_of(Module& module, const std::string& kernel) {
  const std::string entry = module.whole ? "" : kernel;
  const auto known = module.code.find(entry);
  return known != module.code.end()
             ? known->second
             : module.code.emplace(entry, assemble(module, entry)).first->second;
}

Result<std::vector<KernelResources>> Pricer::read_resources(const Module& module,
                                                            const std::string& entry) const {
  if (module.texts.size() != 1)
    return fail(ErrorCode::unsupported, "its module was linked of several");
  if (!toolchain_ || toolchain_->ptxas.empty())
    return fail(ErrorCode::unsupported, toolchain_ ? "there is no ptxas" : no_toolchain_);
  const std::string text = without_source_lines(module.texts.front());
  AssemblyRequest request;
  request.ptx = text;
  request.architecture = architecture_for(*toolchain_, gpu_, text);
  request.entry = entry;
  request.max_registers = register_limit(text);
  return assembled_resources(*toolchain_, request);
}

Result<AssembledKernel> Pricer::kernel(std::uint64_t module, const std::string& kernel) {
  const auto found = modules_.find(module);
  if (found == modules_.end())
    return fail(ErrorCode::input, "a kernel of a module that was never sent");
  Module& of = found->second;
  const std::string entry = of.whole ? "" : kernel;
  auto known = of.resources.find(entry);
  if (known == of.resources.end())
    known = of.resources.emplace(entry, read_resources(of, entry)).first;
  if (!known->second)
    return tl::unexpected<Error>(known->second.error());
  for (const KernelResources& resources : *known->second)
    if (resources.name == kernel && resources.registers)
      return AssembledKernel{*resources.registers, resources.stack.value_or(Bytes{0})};
  return fail(ErrorCode::input, "the assembler knows no such kernel");
}

Result<LaunchPrice> Pricer::price(std::uint64_t module, const std::string& kernel,
                                  const LaunchCounts& counts) {
  const auto found = modules_.find(module);
  if (found == modules_.end() || found->second.texts.empty())
    return fail(ErrorCode::input, "a launch of a module that was never sent");
  const Code& code = code_of(found->second, kernel);
  KernelResources resources;
  resources.name = kernel;
  KERNEVO_TRY(modelled,
              model_launch(gpu_, found->second.texts.front(), code.module ? &*code.module : nullptr,
                           kernel, std::move(resources), counts));
  const Prediction& prediction = modelled.prediction;
  PlannedWork planned;
  planned.predicted = prediction.time;
  KERNEVO_TRY(explanation,
              explain_launch({gpu_, counts, modelled.resources,
                              modelled.work ? &*modelled.work : nullptr, prediction, planned},
                             rules_));
  LaunchPrice price;
  price.time = prediction.time;
  price.error = prediction.error;
  price.from_machine_code = prediction.from_machine_code;
  if (!price.from_machine_code)
    price.note = !code.note.empty() ? code.note
                 : modelled.work    ? "its machine code does not explain what the PTX did"
                                    : "its machine code has no such kernel";
  if (!prediction.bounds.empty())
    price.limiter = prediction.limiter().name;
  if (!explanation.bottleneck.findings.empty()) {
    const BottleneckFinding& first = explanation.bottleneck.findings.front();
    price.bottleneck = name_of(first.tag);
    price.message = first.message;
  }
  price.occupancy = prediction.occupancy.fraction;
  price.waves = prediction.waves;
  price.bounds = prediction.bounds;
  price.metrics.insert(explanation.metrics.all().begin(), explanation.metrics.all().end());
  return price;
}

} // namespace kernevo
