#include "kernevo/toolchain/assembled.h"

#include "kernevo/base/hash.h"
#include "kernevo/toolchain/ptx_text.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 30U;

fs::path entry(AssembledFiles::Kind kind, const std::string& key) {
  constexpr std::array<const char*, 3> endings = {".cubin", ".sass", ".log"};
  return fs::path(key.substr(0, 2)) / (key + endings.at(static_cast<std::size_t>(kind)));
}

void add_program(std::string& text, const fs::path& path) {
  std::error_code problem;
  const auto size = fs::file_size(path, problem);
  const auto time = fs::last_write_time(path, problem);
  text += fmt::format("{} {} {}\n", path.string(), problem ? 0 : size,
                      problem ? 0 : time.time_since_epoch().count());
}

} // namespace

std::vector<std::string> assembler_arguments(const Toolchain& toolchain,
                                             const AssemblyRequest& request) {
  std::vector<std::string> arguments = {toolchain.ptxas.string(), "-lineinfo",
                                        "-arch=" + request.architecture};
  for (const std::string& flag : request.flags)
    if (flag.starts_with("-O"))
      arguments.push_back(flag);
  if (request.max_registers)
    arguments.push_back(fmt::format("--maxrregcount={}", *request.max_registers));
  if (!request.entry.empty())
    arguments.push_back("--entry=" + request.entry);
  return arguments;
}

AssembledFiles::AssembledFiles()
    : files_(cache_folder().empty() ? fs::path() : cache_folder() / "assembled", kLimit) {}

std::optional<std::string> AssembledFiles::find(Kind kind, const std::string& key) const {
  return files_.find(entry(kind, key));
}

void AssembledFiles::store(Kind kind, const std::string& key, std::string_view content) const {
  static_cast<void>(files_.store(entry(kind, key), content));
  if (key.starts_with("00")) // one store in 256 pays for looking around
    files_.prune();
}

std::string assembly_key(const Toolchain& toolchain, const AssemblyRequest& request) {
  std::string text = "kernevo-assembly-1\n";
  add_program(text, toolchain.ptxas);
  add_program(text, toolchain.nvdisasm);
  for (const std::string& argument : assembler_arguments(toolchain, request))
    text += argument + '\n';
  return sha256_hex(text + sha256_hex(request.ptx));
}

std::string without_source_lines(std::string_view ptx) {
  std::string text;
  text.reserve(ptx.size());
  while (!ptx.empty()) {
    const std::size_t end = ptx.find('\n');
    const std::string_view line = ptx.substr(0, end);
    if (!is_source_line(line))
      text += line;
    if (end != std::string_view::npos)
      text += '\n';
    ptx.remove_prefix(end == std::string_view::npos ? ptx.size() : end + 1);
  }
  return text;
}

} // namespace kernevo
