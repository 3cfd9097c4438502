#include "kernevo/sass/disassemble.h"

#include "kernevo/base/files.h"
#include "kernevo/base/subprocess.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/sass/parse_listing.h"
#include "kernevo/toolchain/assembled.h"
#include "kernevo/toolchain/toolkit_files.h"

#include <charconv>
#include <fmt/format.h>

namespace kernevo::sass {

namespace {

constexpr double kTimeLimitSeconds = 120;
constexpr std::uint64_t kMemoryLimit = std::uint64_t{6} << 30U;
// A listing has about 400 bytes per instruction; ptxas takes minutes long before this is reached.
constexpr std::size_t kListingLimit = std::size_t{256} << 20U;

SubprocessRequest request_in(const TemporaryFolder& folder, const FileCage& cage,
                             std::vector<std::string> arguments) {
  SubprocessRequest request;
  request.arguments = std::move(arguments);
  request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + folder.path().string()};
  request.folder = folder.path();
  request.cage = &cage;
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

// Dataflow analysis is a quarter of nvdisasm's time. It finds the targets of branches through
// registers and changes nothing else.
bool has_indirect_branch(std::string_view listing) {
  return listing.find("BRX") != std::string_view::npos ||
         listing.find("JMX") != std::string_view::npos;
}

// From the cache, or made of the cubin that the compiler left there, or of the PTX.
Result<std::string> listing_of(const Toolchain& toolchain, const AssemblyRequest& request) {
  const AssembledFiles known;
  const std::string key = assembly_key(toolchain, request);
  if (auto listing = known.find(AssembledFiles::Kind::listing, key))
    return std::move(*listing);
  KERNEVO_TRY(folder, TemporaryFolder::make());
  KERNEVO_TRY(cage, FileCage::make(compiler_access(toolchain, false, folder.path())));
  if (const auto cubin = known.find(AssembledFiles::Kind::cubin, key)) {
    KERNEVO_CHECK(write_file_atomically(folder.path() / "kernel.cubin", *cubin));
  } else {
    KERNEVO_CHECK(write_file_atomically(folder.path() / "kernel.ptx", std::string(request.ptx)));
    std::vector<std::string> arguments = assembler_arguments(toolchain, request);
    arguments.insert(arguments.end(), {"kernel.ptx", "-o", "kernel.cubin"});
    KERNEVO_CHECK(run(request_in(folder, cage, std::move(arguments)), "ptxas"));
  }
  const auto disassembly = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {toolchain.nvdisasm.string(), "-c", "-gp", "-hex"});
    flags.emplace_back("kernel.cubin");
    return run(request_in(folder, cage, std::move(flags)), "nvdisasm");
  };
  auto listing = disassembly({"-ndf"});
  if (!listing || has_indirect_branch(*listing))
    listing = disassembly({});
  if (listing)
    known.store(AssembledFiles::Kind::listing, key, *listing);
  return listing;
}

} // namespace

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
  const std::string text = without_source_lines(ptx);
  const AssemblyRequest request{text, options.architecture, options.flags, options.max_registers,
                                options.entry};
  KERNEVO_TRY(listing, listing_of(toolchain, request));
  KERNEVO_TRY(module, parse_listing(listing));
  module.architecture = options.architecture;
  module.assembler = "ptxas of CUDA " + toolchain.version;
  return std::move(module);
}

Result<std::optional<SassModule>> disassemble_if_possible(const Toolchain& toolchain,
                                                          std::string_view ptx,
                                                          const DisassembleOptions& options) {
  auto module = disassemble(toolchain, ptx, options);
  if (module)
    return std::optional(std::move(*module));
  if (module.error().code != ErrorCode::unsupported)
    return tl::unexpected<Error>(module.error());
  return std::optional<SassModule>();
}

} // namespace kernevo::sass
