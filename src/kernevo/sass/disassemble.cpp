#include "kernevo/sass/disassemble.h"

#include "kernevo/base/files.h"
#include "kernevo/sass/parse_listing.h"
#include "kernevo/toolchain/assemble_text.h"

#include <fmt/format.h>

namespace kernevo::sass {

namespace {

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
  KERNEVO_TRY(cubin, assemble_text(toolchain, request));
  KERNEVO_TRY(folder, TemporaryFolder::make());
  KERNEVO_CHECK(write_file_atomically(folder.path() / "kernel.cubin", cubin));
  const auto disassembly = [&](std::vector<std::string> flags) -> Result<std::string> {
    flags.insert(flags.begin(), {toolchain.nvdisasm.string(), "-c", "-gp", "-hex"});
    flags.emplace_back("kernel.cubin");
    KERNEVO_TRY(ran, run_tool(toolchain, folder, std::move(flags), "nvdisasm"));
    return std::move(ran.output);
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
