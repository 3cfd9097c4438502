#include "kernevo/kernel/kernel_file.h"
#include "kernevo/toolchain/architectures.h"
#include "kernevo/toolchain/assembled.h"
#include "kernevo/toolchain/build_cache.h"
#include "kernevo/toolchain/compiler_log.h"
#include "kernevo/toolchain/headers.h"
#include "kernevo/toolchain/nvcc.h"
#include "kernevo/toolchain/nvrtc.h"
#include "kernevo/toolchain/prelude.h"
#include "kernevo/toolchain/ptx_text.h"
#include "kernevo/toolchain/ptxas.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fmt/format.h>

namespace kernevo {

namespace {

void add_error(Build& build, const CompileRequest& request, std::string message) {
  build.ok = false;
  build.diagnostics.push_back({Diagnostic::Severity::error,
                               Place{request.file, request.first_line, 0}, std::move(message)});
}

std::vector<std::string> nvrtc_options(const Toolchain& toolchain, const CompileRequest& request) {
  std::vector<std::string> options = {"--gpu-architecture=compute_" +
                                          request.architecture.substr(3),
                                      "-lineinfo", "-default-device"};
  for (const std::filesystem::path& folder : include_folders(toolchain))
    options.push_back("-I" + folder.string());
  bool standard = false;
  for (const std::string& flag : request.flags) {
    if (!flag.starts_with("-O")) // the optimisation level is the assembler's
      options.push_back(flag);
    standard = standard || flag.starts_with("--std=");
  }
  if (!standard)
    options.emplace_back("--std=c++17");
  for (const auto& [name, value] : request.macros)
    options.push_back(fmt::format("-D{}={}", name, value));
  return options;
}

Result<NvrtcOutcome> run_compiler(const Toolchain& toolchain, const CompileRequest& request,
                                  bool nvcc) {
  if (nvcc)
    return run_nvcc(toolchain, request);
  NvrtcProgram program;
  program.source = add_prelude(request, CompilerKind::nvrtc);
  program.name = "kernevo-prelude";
  program.options = nvrtc_options(toolchain, request);
  program.name_expressions = request.name_expressions;
  program.headers = virtual_headers();
  return run_nvrtc(toolchain.nvrtc, program);
}

// Kernels are launched by the name in the source; this is what the module calls them.
void add_plain_names(Build& build) {
  std::map<std::string, int> seen;
  const std::vector<std::string> entries = entry_names(build.ptx);
  for (const std::string& entry : entries)
    ++seen[plain_kernel_name(entry)];
  for (const std::string& entry : entries)
    if (const std::string plain = plain_kernel_name(entry); seen[plain] == 1)
      build.lowered_names.emplace(plain, entry);
}

// Returns whether the result depends on nothing but the key, so that it may be cached.
Result<bool> build_now(const Toolchain& toolchain, const CompileRequest& request, bool nvcc,
                       FreshBuild& fresh) {
  Build& build = fresh.build;
  if (request.source.size() > kMaxKernelFileSize) {
    add_error(build, request,
              fmt::format("the source is {} bytes, over the limit of {}", request.source.size(),
                          kMaxKernelFileSize));
    return false;
  }
  if (std::string problem = architecture_problem(toolchain, request.architecture);
      !problem.empty()) {
    add_error(build, request, std::move(problem));
    return false;
  }
  build.diagnostics = refused_includes(request, toolchain);
  if (!build.diagnostics.empty())
    return false;
  KERNEVO_TRY(outcome, run_compiler(toolchain, request, nvcc));
  CompilerLog log = read_compiler_log(outcome.log, request, toolchain);
  build.diagnostics = std::move(log.diagnostics);
  switch (outcome.kind) {
  case NvrtcOutcome::Kind::compiled: break;
  case NvrtcOutcome::Kind::rejected:
    build.syntax_error = log.syntax_error;
    if (std::none_of(build.diagnostics.begin(), build.diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::error; }))
      add_error(build, request, "the compiler rejects the source without saying where");
    return true;
  case NvrtcOutcome::Kind::bad_option:
    add_error(build, request,
              "the compiler refuses its options: " + outcome.log.substr(0, outcome.log.find('\n')));
    return true;
  case NvrtcOutcome::Kind::internal_failure:
    add_error(build, request, "the compiler failed on this source (internal error)");
    return false;
  }
  build.ok = true;
  build.ptx = restore_file_name(std::move(outcome.ptx), request.file);
  build.ptx_hash = hash_ptx(build.ptx);
  build.lowered_names = std::move(outcome.lowered_names);
  add_plain_names(build);
  if (request.resources && !toolchain.ptxas.empty())
    return assemble(toolchain, request, build, fresh.cubin);
  return true;
}

} // namespace

bool wants_nvcc(const Toolchain& toolchain, const CompileRequest& request) {
  if (request.with_nvcc)
    return true;
  const char* asked = std::getenv("KERNEVO_COMPILER");
  return toolchain.nvrtc.empty() || (asked != nullptr && std::string_view(asked) == "nvcc");
}

std::optional<Build> find_build(const Toolchain& toolchain, const CompileRequest& request,
                                CompilerReach reach) {
  return BuildCache::from_environment().find(
      build_key(toolchain, request, wants_nvcc(toolchain, request), reach));
}

void warm_up_compiler(const Toolchain& toolchain) {
  if (wants_nvcc(toolchain, {}))
    return; // every compilation is a process
  CompileRequest request;
  request.source = "extern \"C\" __global__ void warm_up(float* x) { x[threadIdx.x] = 1.0f; }";
  request.file = "warm_up.cu";
  request.architecture = fmt::format("sm_{}", known_architectures(toolchain).front());
  static_cast<void>(run_compiler(toolchain, request, false));
  if (!toolchain.ptxas.empty())
    ptxas_version(toolchain);
}

Result<FreshBuild> compile_afresh(const Toolchain& toolchain, const CompileRequest& request) {
  const bool nvcc = wants_nvcc(toolchain, request);
  if (nvcc && toolchain.nvcc.empty())
    return fail(ErrorCode::infrastructure, "the CUDA toolkit has no nvcc",
                Place{toolchain.root.string()}, "unset KERNEVO_COMPILER to compile with NVRTC");
  FreshBuild fresh;
  fresh.build.compiler = fmt::format("{} {}", nvcc ? "nvcc" : "NVRTC", toolchain.version);
  fresh.build.architecture = request.architecture;
  KERNEVO_TRY(lasting, build_now(toolchain, request, nvcc, fresh));
  fresh.lasting = lasting;
  return fresh;
}

Build keep_build(const Toolchain& toolchain, const CompileRequest& request, FreshBuild fresh,
                 CompilerReach reach) {
  Build& build = fresh.build;
  if (!fresh.lasting)
    return std::move(build);
  // Whoever asks for the machine instructions next need not assemble again.
  if (!fresh.cubin.empty()) {
    const std::string text = without_source_lines(build.ptx);
    const AssemblyRequest assembly{text, request.architecture, request.flags,
                                   request.max_registers};
    AssembledFiles().store(AssembledFiles::Kind::cubin, assembly_key(toolchain, assembly),
                           fresh.cubin);
  }
  const std::string key = build_key(toolchain, request, wants_nvcc(toolchain, request), reach);
  if (const auto stored = BuildCache::from_environment().store(key, build); !stored) {
    static std::atomic<bool> told = false;
    if (!told.exchange(true))
      build.diagnostics.push_back(
          {Diagnostic::Severity::warning, Place{request.file, 0, 0}, format_error(stored.error())});
  }
  return std::move(build);
}

Result<Build> compile(const Toolchain& toolchain, const CompileRequest& request) {
  if (auto found = find_build(toolchain, request, CompilerReach::everything))
    return std::move(*found);
  KERNEVO_TRY(fresh, compile_afresh(toolchain, request));
  return keep_build(toolchain, request, std::move(fresh), CompilerReach::everything);
}

} // namespace kernevo
