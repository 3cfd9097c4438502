#include "kernevo/toolchain/assemble_text.h"

#include "kernevo/base/files.h"
#include "kernevo/toolchain/ptxas.h"
#include "kernevo/toolchain/toolkit_files.h"

#include <charconv>
#include <fmt/format.h>

namespace kernevo {
namespace {

constexpr double kTimeLimitSeconds = 120;
constexpr std::uint64_t kMemoryLimit = std::uint64_t{6} << 30U;
// A listing has about 400 bytes per instruction; ptxas takes minutes long before this is reached.
constexpr std::size_t kOutputLimit = std::size_t{256} << 20U;
constexpr std::uintmax_t kLargestCubin = std::uintmax_t{256} << 20U;

// "ptxas kernel.ptx, line 37; error   : Unknown modifier" -> the error on its line of the PTX.
Error assembler_error(const std::string& log) {
  constexpr std::string_view line_mark = ", line ";
  constexpr std::string_view error_mark = "error   : ";
  constexpr std::string_view fatal_mark = "fatal   : ";
  std::size_t at = log.find(error_mark);
  if (at == std::string::npos)
    at = log.find(fatal_mark);
  if (at == std::string::npos)
    return {ErrorCode::infrastructure, "ptxas failed: " + log.substr(0, log.find('\n')), {}, ""};
  const std::size_t begin = log.rfind('\n', at) == std::string::npos ? 0 : log.rfind('\n', at) + 1;
  int line = 0;
  if (const std::size_t mark = log.find(line_mark, begin); mark < at)
    std::from_chars(log.data() + mark + line_mark.size(), log.data() + at, line);
  const std::size_t text = at + error_mark.size();
  return {ErrorCode::input, "assembler: " + log.substr(text, log.find('\n', at) - text),
          Place{"PTX", line, 0}, ""};
}

struct Assembled {
  std::string cubin;
  std::string log;
};

Result<Assembled> assemble(const Toolchain& toolchain, const AssemblyRequest& request,
                           const std::string& key) {
  KERNEVO_TRY(folder, TemporaryFolder::make());
  KERNEVO_CHECK(write_file_atomically(folder.path() / "kernel.ptx", std::string(request.ptx)));
  std::vector<std::string> arguments = assembler_arguments(toolchain, request);
  arguments.insert(arguments.end(), {"-v", "kernel.ptx", "-o", "kernel.cubin"});
  KERNEVO_TRY(ran, run_tool(toolchain, folder, std::move(arguments), "ptxas"));
  KERNEVO_TRY(cubin, read_text_file(folder.path() / "kernel.cubin", kLargestCubin));
  Assembled made{std::move(cubin), ran.error_output + ran.output};
  const AssembledFiles known;
  known.store(AssembledFiles::Kind::cubin, key, made.cubin);
  known.store(AssembledFiles::Kind::log, key, made.log);
  return made;
}

} // namespace

Result<SubprocessResult> run_tool(const Toolchain& toolchain, const TemporaryFolder& folder,
                                  std::vector<std::string> arguments, const char* name) {
  KERNEVO_TRY(cage, FileCage::make(compiler_access(toolchain, false, folder.path())));
  SubprocessRequest request;
  request.arguments = std::move(arguments);
  request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + folder.path().string()};
  request.folder = folder.path();
  request.cage = &cage;
  request.time_limit_seconds = kTimeLimitSeconds;
  request.memory_limit_bytes = kMemoryLimit;
  request.output_limit = kOutputLimit;
  KERNEVO_TRY(result, run_subprocess(request));
  if (result.timed_out)
    return fail(ErrorCode::infrastructure,
                fmt::format("{} did not finish in {:.0f} s", name, kTimeLimitSeconds));
  if (result.signal != 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("{} ended with signal {}", name, result.signal));
  if (result.exit_status != 0)
    return tl::unexpected<Error>(assembler_error(result.error_output + result.output));
  if (result.output_truncated)
    return fail(ErrorCode::unsupported,
                fmt::format("{} printed more than {} MB", name, kOutputLimit >> 20U));
  return std::move(result);
}

Result<std::string> assemble_text(const Toolchain& toolchain, const AssemblyRequest& request) {
  const std::string key = assembly_key(toolchain, request);
  if (auto cubin = AssembledFiles().find(AssembledFiles::Kind::cubin, key))
    return std::move(*cubin);
  KERNEVO_TRY(made, assemble(toolchain, request, key));
  return std::move(made.cubin);
}

Result<std::vector<KernelResources>> assembled_resources(const Toolchain& toolchain,
                                                         const AssemblyRequest& request) {
  const std::string key = assembly_key(toolchain, request);
  if (const auto log = AssembledFiles().find(AssembledFiles::Kind::log, key))
    return read_ptxas_log(*log);
  KERNEVO_TRY(made, assemble(toolchain, request, key));
  return read_ptxas_log(made.log);
}

} // namespace kernevo
