#include "kernevo/toolchain/ptxas.h"

#include "kernevo/base/files.h"
#include "kernevo/base/subprocess.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/toolchain/assembled.h"
#include "kernevo/toolchain/ptx_text.h"

#include <charconv>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>

namespace kernevo {

namespace {

constexpr double kTimeLimitSeconds = 60;
constexpr std::uint64_t kMemoryLimit = std::uint64_t{6} << 30U;
constexpr std::size_t kMaxErrors = 20;
constexpr std::uintmax_t kLargestCubin = std::uintmax_t{64} << 20U;

template <class Function> void for_each_line(std::string_view text, Function&& function) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    function(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// The number that stands before `unit`, as in "128 bytes smem".
std::optional<std::uint64_t> number_before(std::string_view line, std::string_view unit) {
  std::size_t end = line.find(unit);
  while (end != std::string_view::npos && end > 0 && line[end - 1] == ' ')
    --end;
  if (end == std::string_view::npos)
    return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  std::uint64_t number = 0;
  const auto [stop, problem] = std::from_chars(line.data() + begin, line.data() + end, number);
  if (problem != std::errc() || stop == line.data() + begin)
    return std::nullopt;
  return number;
}

std::optional<Bytes> bytes_before(std::string_view line, std::string_view unit) {
  const auto number = number_before(line, unit);
  return number ? std::optional(Bytes{*number}) : std::nullopt;
}

std::string quoted(std::string_view line) {
  const std::size_t open = line.find('\'');
  const std::size_t close = line.find('\'', open + 1);
  return open == std::string_view::npos || close == std::string_view::npos
             ? ""
             : std::string(line.substr(open + 1, close - open - 1));
}

void read_usage(std::string_view line, KernelResources& resources) {
  if (const auto registers = number_before(line, "registers"))
    resources.registers = static_cast<int>(*registers);
  // ptxas leaves out what is zero.
  resources.barriers = static_cast<int>(number_before(line, "barriers").value_or(0));
  resources.static_shared = bytes_before(line, "bytes smem").value_or(Bytes{0});
  std::uint64_t constant = 0;
  while (true) {
    const std::size_t at = line.find("bytes cmem[");
    if (at == std::string_view::npos)
      break;
    constant += number_before(line.substr(0, at + 11), "bytes cmem[").value_or(0);
    line.remove_prefix(at + 11);
  }
  resources.constant = Bytes{constant};
}

} // namespace

std::string ptxas_version(const Toolchain& toolchain) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::string> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(toolchain.ptxas); found != known.end())
    return found->second;
  SubprocessRequest request;
  request.arguments = {toolchain.ptxas.string(), "--version"};
  request.time_limit_seconds = 10;
  const auto result = run_subprocess(request);
  // "... release 13.2, V13.2.86"
  const std::size_t at = result ? result->output.find(", V") : std::string::npos;
  if (at == std::string::npos)
    return "ptxas";
  const std::size_t end = result->output.find_first_of("\n ", at + 3);
  return known[toolchain.ptxas] = "ptxas " + result->output.substr(at + 3, end - at - 3);
}

namespace {

// "ptxas k.ptx, line 37; error   : Unknown modifier" -> a diagnostic on the user's line.
std::optional<Diagnostic> read_error(std::string_view line, const Build& build,
                                     const CompileRequest& request) {
  static constexpr std::string_view line_mark = ", line ";
  Diagnostic diagnostic;
  diagnostic.place = Place{request.file, 0, 0};
  if (line.find("Ptx assembly aborted") != std::string_view::npos)
    return std::nullopt;
  if (const std::size_t error = line.find("error   : "); error != std::string_view::npos) {
    diagnostic.message = "assembler: " + std::string(line.substr(error + 10));
    if (const std::size_t at = line.find(line_mark); at < error) {
      int ptx_line = 0;
      std::from_chars(line.data() + at + line_mark.size(), line.data() + error, ptx_line);
      diagnostic.place.line = source_line(build.ptx, ptx_line, request.file).value_or(0);
    }
    return diagnostic;
  }
  if (const std::size_t fatal = line.find("fatal   : "); fatal != std::string_view::npos) {
    diagnostic.message = "assembler: " + std::string(line.substr(fatal + 10));
    return diagnostic;
  }
  return std::nullopt;
}

Result<SubprocessResult> run_ptxas(const Toolchain& toolchain, const CompileRequest& request,
                                   const Build& build, std::string& cubin) {
  KERNEVO_TRY(folder, TemporaryFolder::make());
  const std::string text = without_source_lines(build.ptx);
  const AssemblyRequest assembly{text, request.architecture, request.flags, request.max_registers};
  KERNEVO_CHECK(write_file_atomically(folder.path() / "kernel.ptx", text));
  SubprocessRequest run;
  run.arguments = assembler_arguments(toolchain, assembly);
  run.arguments.insert(run.arguments.end(), {"-v", "kernel.ptx", "-o", "kernel.cubin"});
  run.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + folder.path().string()};
  run.folder = folder.path();
  run.time_limit_seconds = kTimeLimitSeconds;
  run.memory_limit_bytes = kMemoryLimit;
  KERNEVO_TRY(result, run_subprocess(run));
  if (result.exit_status == 0)
    cubin = read_text_file(folder.path() / "kernel.cubin", kLargestCubin).value_or("");
  return result;
}

void warn(Build& build, const CompileRequest& request, std::string message) {
  build.diagnostics.push_back(
      {Diagnostic::Severity::warning, Place{request.file, 0, 0}, std::move(message)});
}

} // namespace

std::vector<KernelResources> read_ptxas_log(std::string_view log) {
  static constexpr std::string_view properties_mark = "Function properties for ";
  std::vector<KernelResources> kernels;
  bool of_entry = false; // "Function properties" are also printed for device functions
  for_each_line(log, [&](std::string_view line) {
    if (line.find("Compiling entry function") != std::string_view::npos) {
      KernelResources kernel;
      kernel.name = quoted(line);
      kernel.demangled = plain_kernel_name(kernel.name);
      kernels.push_back(std::move(kernel));
      return;
    }
    if (kernels.empty())
      return;
    KernelResources& kernel = kernels.back();
    if (const std::size_t at = line.find(properties_mark); at != std::string_view::npos) {
      of_entry = line.substr(at + properties_mark.size()) == kernel.name;
    } else if (line.find("bytes stack frame") != std::string_view::npos && of_entry) {
      kernel.stack = bytes_before(line, "bytes stack frame");
      kernel.spill_stores = bytes_before(line, "bytes spill stores");
      kernel.spill_loads = bytes_before(line, "bytes spill loads");
    } else if (line.find("Used ") != std::string_view::npos && of_entry) {
      read_usage(line, kernel);
    }
  });
  return kernels;
}

bool assemble(const Toolchain& toolchain, const CompileRequest& request, Build& build,
              std::string& cubin) {
  const auto result = run_ptxas(toolchain, request, build, cubin);
  if (!result) {
    warn(build, request, "resources are unknown: " + format_error(result.error()));
    return false;
  }
  build.assembler = ptxas_version(toolchain);
  if (result->timed_out || result->signal != 0) {
    warn(build, request,
         result->timed_out
             ? fmt::format("resources are unknown: ptxas did not finish in {:.0f} s",
                           kTimeLimitSeconds)
             : fmt::format("resources are unknown: ptxas ended with signal {}", result->signal));
    return false;
  }
  if (result->exit_status == 0) {
    build.resources = read_ptxas_log(result->error_output + result->output);
    return true;
  }
  std::size_t errors = 0;
  for_each_line(result->error_output + result->output, [&](std::string_view line) {
    if (auto diagnostic = read_error(line, build, request); diagnostic && errors < kMaxErrors) {
      build.diagnostics.push_back(std::move(*diagnostic));
      ++errors;
    }
  });
  if (errors == 0) {
    warn(build, request,
         fmt::format("resources are unknown: ptxas ended with status {}", result->exit_status));
    return false;
  }
  build.ok = false;
  return true;
}

} // namespace kernevo
