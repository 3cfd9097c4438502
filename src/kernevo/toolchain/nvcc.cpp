#include "kernevo/toolchain/nvcc.h"

#include "kernevo/base/files.h"
#include "kernevo/base/subprocess.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/toolchain/prelude.h"
#include "kernevo/toolchain/ptx_text.h"

#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <memory>

namespace kernevo {

namespace {

constexpr double kTimeLimitSeconds = 120;

// "reduce<(int)256>" and "reduce<256>" are the same instantiation.
std::string squeezed(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {
      const std::size_t close = text.find(')', i);
      const std::string_view inside = text.substr(i + 1, close - i - 1);
      if (close != std::string_view::npos &&
          (inside == "int" || inside == "unsigned int" || inside == "bool" || inside == "long")) {
        i = close;
        continue;
      }
    }
    if (text[i] != ' ')
      result += text[i];
  }
  return result;
}

// Finds the PTX entry that is this instantiation, by demangling all of them.
std::string lowered_name(const std::vector<std::string>& entries, const std::string& expression) {
  const std::string wanted = squeezed(expression);
  for (const std::string& entry : entries) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(entry.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0 || demangled == nullptr)
      continue;
    const std::string name = squeezed(demangled.get());
    const std::size_t at = name.find(wanted + "(");
    if (at != std::string::npos)
      return entry;
  }
  return "";
}

} // namespace

Result<NvrtcOutcome> run_nvcc(const Toolchain& toolchain, const CompileRequest& request) {
  KERNEVO_TRY(folder, TemporaryFolder::make());
  std::string source = add_prelude(request, CompilerKind::nvcc);
  // A host variable with the address of an instantiation makes nvcc emit it.
  for (std::size_t i = 0; i < request.name_expressions.size(); ++i)
    source += fmt::format("\nauto* kernevo_instance_{} = &{};", i, request.name_expressions[i]);
  source += '\n';
  KERNEVO_CHECK(write_file_atomically(folder.path() / "kernel.cu", source));
  SubprocessRequest run;
  run.arguments = {toolchain.nvcc.string(), "-ptx", "-lineinfo", "-expt-relaxed-constexpr",
                   "-arch=compute_" + request.architecture.substr(3)};
  bool standard = false;
  for (const std::string& flag : request.flags) {
    if (!flag.starts_with("-O"))
      run.arguments.push_back(flag);
    standard = standard || flag.starts_with("--std=");
  }
  if (!standard)
    run.arguments.emplace_back("--std=c++17");
  for (const auto& [name, value] : request.macros)
    run.arguments.push_back(fmt::format("-D{}={}", name, value));
  run.arguments.insert(run.arguments.end(), {"kernel.cu", "-o", "kernel.ptx"});
  run.environment = {
      fmt::format("PATH={}:/usr/local/bin:/usr/bin:/bin", toolchain.nvcc.parent_path().string()),
      "TMPDIR=" + folder.path().string()};
  run.folder = folder.path();
  run.time_limit_seconds = kTimeLimitSeconds;
  KERNEVO_TRY(result, run_subprocess(run));
  NvrtcOutcome outcome;
  outcome.log = result.output + result.error_output;
  if (result.timed_out)
    return fail(ErrorCode::infrastructure,
                fmt::format("nvcc did not finish in {:.0f} s", kTimeLimitSeconds));
  if (result.signal != 0) {
    outcome.kind = NvrtcOutcome::Kind::internal_failure;
    return outcome;
  }
  if (result.exit_status != 0) {
    if (outcome.log.find("error") == std::string::npos ||
        outcome.log.find("nvcc fatal") != std::string::npos)
      return fail(ErrorCode::infrastructure,
                  "nvcc failed: " + outcome.log.substr(0, outcome.log.find('\n')), std::nullopt,
                  "check that nvcc finds a host compiler");
    outcome.kind = NvrtcOutcome::Kind::rejected;
    return outcome;
  }
  KERNEVO_TRY(ptx, read_text_file(folder.path() / "kernel.ptx"));
  outcome.kind = NvrtcOutcome::Kind::compiled;
  outcome.ptx = std::move(ptx);
  // Relative #line names are taken from nvcc's own folder.
  const std::string here = fmt::format("\"{}\"", (folder.path() / request.file).string());
  for (std::size_t at = outcome.ptx.find(here); at != std::string::npos;
       at = outcome.ptx.find(here))
    outcome.ptx.replace(at, here.size(), fmt::format("\"{}\"", request.file));
  const std::vector<std::string> entries = entry_names(outcome.ptx);
  for (const std::string& expression : request.name_expressions)
    if (std::string name = lowered_name(entries, expression); !name.empty())
      outcome.lowered_names[expression] = std::move(name);
  return outcome;
}

} // namespace kernevo
