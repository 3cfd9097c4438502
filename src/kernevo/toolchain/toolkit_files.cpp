#include "kernevo/toolchain/toolkit_files.h"

#include "kernevo/base/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sys/stat.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> toolkit_files(const Toolchain& toolchain, bool nvcc) {
  std::vector<fs::path> files = {toolchain.include, toolchain.ptxas, toolchain.nvdisasm,
                                 toolchain.root / "nvvm"};
  std::error_code problem;
  // Some installations gather their headers by links.
  for (const auto& entry : fs::directory_iterator(toolchain.include, problem))
    if (entry.is_symlink(problem))
      files.push_back(entry.path());
  // The library loads others of its family.
  for (const auto& entry : fs::directory_iterator(toolchain.nvrtc.parent_path(), problem))
    if (entry.path().filename().string().starts_with("libnvrtc"))
      files.push_back(entry.path());
  if (nvcc)
    files.insert(files.end(), {toolchain.root / "bin", toolchain.root / "targets", "/usr/include",
                               "/usr/local/include", "/usr/lib/gcc"});
  std::erase_if(files, [](const fs::path& path) { return path.empty(); });
  std::sort(files.begin(), files.end());
  return files;
}

// The time of the last change of status goes along: it cannot be set back.
std::string describe(const fs::path& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0)
    return fmt::format("{} absent\n", path.string());
  return fmt::format("{} {} {}.{} {}.{}\n", path.string(), found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec, found.st_ctim.tv_sec, found.st_ctim.tv_nsec);
}

std::string identify(const std::vector<fs::path>& files) {
  std::vector<std::string> lines;
  for (const fs::path& path : files) {
    std::error_code problem;
    if (!fs::is_directory(path, problem)) {
      lines.push_back(describe(path));
      continue;
    }
    constexpr auto options = fs::directory_options::follow_directory_symlink |
                             fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(path, options, problem), end; !problem && at != end;
         at.increment(problem))
      if (std::error_code gone; !at->is_directory(gone))
        lines.push_back(describe(at->path()));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines)
    text += line;
  return sha256_hex(text);
}

} // namespace

FileAccess compiler_access(const Toolchain& toolchain, bool nvcc, const fs::path& folder) {
  FileAccess access{toolkit_files(toolchain, nvcc), {folder}};
  const std::vector<fs::path> system = system_libraries();
  access.readable.insert(access.readable.end(), system.begin(), system.end());
  if (nvcc)
    access.readable.insert(access.readable.end(),
                           {"/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/bin", "/lib",
                            "/lib64", "/etc/alternatives", "/dev/null"});
  return access;
}

std::string read_toolkit_identity(const Toolchain& toolchain, bool nvcc) {
  return identify(toolkit_files(toolchain, nvcc));
}

std::string toolkit_identity(const Toolchain& toolchain, bool nvcc) {
  static std::mutex mutex;
  static std::map<std::vector<fs::path>, std::string> known;
  const std::vector<fs::path> files = toolkit_files(toolchain, nvcc);
  const std::lock_guard lock(mutex);
  const auto [found, fresh] = known.try_emplace(files);
  if (fresh)
    found->second = identify(files);
  return found->second;
}

} // namespace kernevo
