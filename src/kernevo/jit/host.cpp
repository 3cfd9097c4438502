#include "kernevo/jit/host.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>

namespace kernevo::jit {
namespace {

bool has_all(const llvm::StringMap<bool>& features, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return features.lookup(name); });
}

std::string runtime_level(const llvm::Triple& triple, const llvm::StringMap<bool>& features) {
  if (triple.getArch() != llvm::Triple::x86_64)
    return "generic";
  if (!has_all(features, {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}))
    return "x86-64-v2";
  if (!has_all(features, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return "x86-64-v3";
  return "x86-64-v4";
}

// What every processor of the level can do.
void set_abilities(Host& host) {
  host.rounds_as_told = host.runtime_level == "x86-64-v4";
  host.converts_halves = host.rounds_as_told || host.runtime_level == "x86-64-v3";
  host.prefer_vector_width = host.rounds_as_told ? "512" : "";
}

} // namespace

Host find_host() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  Host host;
  host.triple = llvm::sys::getProcessTriple();
  host.cpu = llvm::sys::getHostCPUName().str();
  const llvm::StringMap<bool> available = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> names;
  for (const auto& feature : available)
    names.push_back(fmt::format("{}{}", feature.second ? '+' : '-', feature.first().str()));
  // The map's order is not part of its promise; this text is part of a cache key.
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.substr(1) < b.substr(1); });
  for (const std::string& name : names)
    host.features += (host.features.empty() ? "" : ",") + name;
  host.runtime_level = runtime_level(llvm::Triple(host.triple), available);
  set_abilities(host);
  return host;
}

Host limited_to(Host host, const std::string& runtime_level) {
  host.cpu = runtime_level;
  host.features.clear();
  host.runtime_level = runtime_level;
  set_abilities(host);
  return host;
}

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const Host& host, bool optimise) {
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(host.triple, problem);
  if (target == nullptr)
    return fail(ErrorCode::unsupported,
                fmt::format("no code generator for {}: {}", host.triple, problem));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // a*b+c rounds twice unless the text says fma
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      host.triple, host.cpu, host.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      optimise ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None, /*JIT=*/true));
  if (!machine)
    return fail(ErrorCode::unsupported, fmt::format("no code generator for {}", host.cpu));
  return machine;
}

void set_host(llvm::Module& module, const Host& host, const llvm::TargetMachine& machine) {
  module.setTargetTriple(host.triple);
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", host.cpu);
    function.addFnAttr("target-features", host.features);
    function.removeFnAttr("tune-cpu");
    function.removeFnAttr("min-legal-vector-width");
    if (!host.prefer_vector_width.empty())
      function.addFnAttr("prefer-vector-width", host.prefer_vector_width);
  }
}

} // namespace kernevo::jit
