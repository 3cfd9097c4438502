#include "kernevo/toolchain/toolchain.h"

#include "kernevo/base/files.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr const char* kFix =
    "run 'make setup' (installs the pinned wheels) or set KERNEVO_CUDA to a "
    "toolkit folder";

fs::path existing(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? path : fs::path();
}

fs::path program(const fs::path& path) {
  return ::access(path.c_str(), X_OK) == 0 ? existing(path) : fs::path();
}

// libnvrtc.so.13, whatever its number; the plain name first, where a toolkit has it.
fs::path find_nvrtc(const fs::path& root) {
  for (const char* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "targets/x86_64-linux/lib"}) {
    if (fs::path plain = existing(root / folder / "libnvrtc.so"); !plain.empty())
      return plain;
    std::error_code ignored;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(root / folder, ignored))
      if (entry.path().filename().string().starts_with("libnvrtc.so."))
        found.push_back(entry.path());
    if (!found.empty())
      return *std::min_element(found.begin(), found.end());
  }
  return {};
}

// "13.2" from "#define CUDA_VERSION 13020".
std::string header_version(const fs::path& include) {
  for (const auto& [file, macro] : {std::pair("cuda.h", "#define CUDA_VERSION "),
                                    std::pair("cuda_runtime_api.h", "#define CUDART_VERSION ")}) {
    const auto text = read_text_file(include / file);
    const std::size_t at = text ? text->find(macro) : std::string::npos;
    if (at == std::string::npos)
      continue;
    std::size_t digit = at + std::string_view(macro).size();
    int number = 0;
    for (; digit < text->size() && number < 1000000; ++digit) {
      const char c = (*text)[digit];
      if (c >= '0' && c <= '9')
        number = number * 10 + (c - '0');
      else if (number > 0 || c != ' ')
        break;
    }
    if (number >= 1000)
      return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
  }
  return "";
}

Toolchain look_into(const fs::path& root, std::string origin) {
  Toolchain toolchain;
  toolchain.root = root;
  toolchain.origin = std::move(origin);
  toolchain.nvrtc = find_nvrtc(root);
  toolchain.nvcc = program(root / "bin" / "nvcc");
  toolchain.ptxas = program(root / "bin" / "ptxas");
  toolchain.nvdisasm = program(root / "bin" / "nvdisasm");
  toolchain.include = root / "include";
  toolchain.version = header_version(toolchain.include);
  return toolchain;
}

bool usable(const Toolchain& toolchain) {
  return (!toolchain.nvrtc.empty() || !toolchain.nvcc.empty()) && !toolchain.version.empty();
}

struct Where {
  fs::path root;
  std::string origin;
};

std::vector<Where> search_places() {
  std::vector<Where> places;
  const fs::path wheels = fs::path("cuda") / "nvidia" / "cu13";
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  if (!problem) {
    const fs::path folder = self.parent_path();
    places.push_back({folder.parent_path() / ".deps" / wheels, "wheels"});
    places.push_back({folder.parent_path() / "lib" / "kernevo" / wheels, "wheels"});
  }
  places.push_back({fs::path(KERNEVO_SOURCE_DEPS) / wheels, "wheels"});
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0')
    places.push_back({home, "CUDA_HOME"});
  places.push_back({"/usr/local/cuda", "/usr/local/cuda"});
  return places;
}

} // namespace

Result<Toolchain> find_toolchain() {
  if (const char* set = std::getenv("KERNEVO_CUDA"); set != nullptr && *set != '\0') {
    Toolchain toolchain = look_into(set, "KERNEVO_CUDA");
    if (usable(toolchain))
      return toolchain;
    // The user pointed at a folder: taking another one silently would hide the mistake.
    return fail(ErrorCode::infrastructure,
                fmt::format("KERNEVO_CUDA is '{}', which is not a CUDA toolkit: {}", set,
                            toolchain.version.empty() ? "it has no include/cuda.h"
                                                      : "it has neither libnvrtc nor bin/nvcc"),
                std::nullopt, "set it to a toolkit folder, or unset it and run 'make setup'");
  }
  for (const Where& where : search_places()) {
    Toolchain toolchain = look_into(where.root, where.origin);
    if (usable(toolchain))
      return toolchain;
  }
  return fail(ErrorCode::infrastructure, "no CUDA toolkit found", std::nullopt, kFix);
}

} // namespace kernevo
