#include "kernevo/sass/disassemble.h"

#include "kernevo/base/files.h"
#include "kernevo/base/subprocess.h"
#include "kernevo/sass/parse_listing.h"
#include "kernevo/toolchain/temporary_folder.h"

#include <charconv>
#include <fmt/format.h>

namespace kernevo::sass {

namespace {

constexpr double kTimeLimitSeconds = 120;
constexpr std::uint64_t kMemoryLimit = std::uint64_t{6} << 30U;
// A listing has about 400 bytes an instruction; ptxas takes minutes long before this is reached.
constexpr std::size_t kListingLimit = std::size_t{256} << 20U;

SubprocessRequest request_in(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  SubprocessRequest request;
  request.arguments = std::move(arguments);
  request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + folder.path().string()};
  request.folder = folder.path();
  request.time_limit_seconds = kTimeLimitSeconds;
  request.memory_limit_bytes = kMemoryLimit;
  request.output_limit = kListingLimit;
  return request;
}

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

Result<std::string> run(const SubprocessRequest& request, const char* name) {
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
                fmt::format("{} printed more than {} MB", name, kListingLimit >> 20U));
  return std::move(result.output);
}

} // namespace

std::string without_source_lines(std::string_view ptx) {
  std::string text;
  text.reserve(ptx.size());
  while (!ptx.empty()) {
    const std::size_t end = ptx.find('\n');
    const std::string_view line = ptx.substr(0, end);
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string_view rest = first == std::string_view::npos ? "" : line.substr(first);
    const bool directive = rest.starts_with(".loc\t") || rest.starts_with(".loc ") ||
                           rest.starts_with(".file\t") || rest.starts_with(".file ");
    if (!directive)
      text += line;
    if (end != std::string_view::npos)
      text += '\n';
    ptx.remove_prefix(end == std::string_view::npos ? ptx.size() : end + 1);
  }
  return text;
}

Result<SassModule> disassemble(const Toolchain& toolchain, std::string_view ptx,
                               const DisassembleOptions& options) {
  for (const auto& [path, name] :
       {std::pair(&toolchain.ptxas, "ptxas"), std::pair(&toolchain.nvdisasm, "nvdisasm")})
    if (path->empty())
      return fail(
          ErrorCode::unsupported,
          fmt::format("machine instructions are unknown: the CUDA toolkit in '{}' has no {}",
                      toolchain.root.string(), name),
          std::nullopt, "run 'make setup', which installs it");
  KERNEVO_TRY(folder, TemporaryFolder::make());
  KERNEVO_CHECK(write_file_atomically(folder.path() / "kernel.ptx", without_source_lines(ptx)));
  std::vector<std::string> arguments = {toolchain.ptxas.string(), "-lineinfo",
                                        "-arch=" + options.architecture};
  for (const std::string& flag : options.flags)
    if (flag.starts_with("-O"))
      arguments.push_back(flag);
  if (options.max_registers)
    arguments.push_back(fmt::format("--maxrregcount={}", *options.max_registers));
  arguments.insert(arguments.end(), {"kernel.ptx", "-o", "kernel.cubin"});
  KERNEVO_CHECK(run(request_in(folder, std::move(arguments)), "ptxas"));
  KERNEVO_TRY(listing, run(request_in(folder, {toolchain.nvdisasm.string(), "-c", "-gp", "-hex",
                                               "kernel.cubin"}),
                           "nvdisasm"));
  KERNEVO_TRY(module, parse_listing(listing));
  module.architecture = options.architecture;
  module.assembler = "ptxas of CUDA " + toolchain.version;
  return std::move(module);
}

} // namespace kernevo::sass
