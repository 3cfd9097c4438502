#include "kernevo/cuda/nvrtc/true_library.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <set>

namespace kernevo::cuda {
namespace fs = std::filesystem;

namespace {

// Folders named like this hold the packages of a Python program.
constexpr const char* kPackages[] = {"site-packages", "dist-packages"};

fs::path own_file() {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&own_file), &here); // NOLINT
  std::error_code error;
  return here.dli_fname == nullptr ? fs::path() : fs::canonical(here.dli_fname, error);
}

// Of what the program has loaded so far, and of the program itself (bin/python of an environment).
std::vector<fs::path> package_folders() {
  std::vector<fs::path> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
          static_cast<std::vector<fs::path>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      &loaded);
  std::set<fs::path> found;
  for (const fs::path& file : loaded) {
    fs::path folder;
    for (const fs::path& part : file) {
      folder /= part;
      if (std::find(std::begin(kPackages), std::end(kPackages), part) != std::end(kPackages))
        found.insert(folder);
    }
  }
  return {found.begin(), found.end()};
}

void add_toolkit(std::vector<fs::path>& folders, const fs::path& root) {
  for (const char* const part : {"lib64", "lib", "targets/x86_64-linux/lib", "nvvm/lib64"})
    folders.push_back(root / part);
}

std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
    std::string rest = path;
    while (!rest.empty()) {
      const auto end = rest.find(':');
      all.emplace_back(rest.substr(0, end));
      rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
  }
  for (const fs::path& packages : package_folders())
    for (const char* const part : {"cu13/lib", "cuda_nvrtc/lib", "nvjitlink/lib"})
      all.push_back(packages / "nvidia" / part);
  for (const char* const variable : {"KERNEVO_CUDA", "CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable))
      add_toolkit(all, root);
  // Where the sources' own setup puts the toolkit.
  const fs::path own = own_file().parent_path();
  all.push_back(own.parent_path().parent_path() / ".deps/cuda/nvidia/cu13/lib");
  add_toolkit(all, "/usr/local/cuda");
  all.emplace_back("/usr/lib/x86_64-linux-gnu");
  all.emplace_back("/usr/lib64");
  return all;
}

} // namespace

std::vector<fs::path> true_library_places(const char* variable,
                                          const std::vector<std::string>& names) {
  std::vector<fs::path> places;
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0')
    return {given};
  std::error_code error;
  const fs::path ours = own_file().parent_path();
  for (const std::string& name : names)
    for (const fs::path& folder : folders()) {
      const fs::path file = fs::canonical(folder / name, error);
      if (!error && file.parent_path() != ours)
        places.push_back(file);
    }
  return places;
}

void* open_true_library(const char* variable, const std::vector<std::string>& names) {
  for (const fs::path& file : true_library_places(variable, names))
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
  std::fprintf(stderr, "kernevo: NVIDIA's %s was not found; set %s to the file\n",
               names.front().c_str(), variable);
  return nullptr;
}

} // namespace kernevo::cuda
