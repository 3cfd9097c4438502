#include "kernevo/device/cuda_settings.h"

#include "kernevo/base/files.h"
#include "kernevo/hardware/own_gpus.h"
#include "kernevo/toolchain/toolchain.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <initializer_list>
#include <link.h>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

extern char** environ;

namespace kernevo {
namespace fs = std::filesystem;
namespace {

// The file that a program started here would load, for the worker has another environment.
std::string found_as(const std::string& library) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(library); found != known.end())
    return found->second;
  std::string path;
  if (void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL); handle != nullptr) {
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr)
      path = map->l_name;
    dlclose(handle);
  }
  return known[library] = path;
}

std::string setting(const char* name, const char* otherwise) {
  const char* set = std::getenv(name);
  return set == nullptr || *set == '\0' ? otherwise : set;
}

bool concerns_libraries(std::string_view name) {
  // A driver's own cache would keep what candidates made it compile.
  if (name.starts_with("CUDA_CACHE"))
    return false;
  // Of ours, what a library that plays a GPU reads; never keys.
  for (const std::string_view start :
       {"CUDA_", "NVIDIA_", "KERNEVO_CORES", "KERNEVO_CUDA", "KERNEVO_GPU", "KERNEVO_JIT",
        "KERNEVO_SANITIZE", "KERNEVO_SHARE", "KERNEVO_TIER"})
    if (name.starts_with(start))
      return true;
  return false;
}

// Where CUPTI may be: as it is named, else beside a library that plays a GPU, beside the toolkit,
// and where every program looks.
std::vector<std::string> libraries_of_counters(const fs::path& beside_libcuda) {
  std::error_code error;
  if (const std::string named = setting("KERNEVO_LIBCUPTI", ""); !named.empty())
    return {fs::absolute(named, error).string()};
  if (const fs::path played = beside_libcuda / "libkernevo_cupti.so";
      fs::is_regular_file(played, error))
    return {played.string()};
  std::vector<std::string> found;
  if (const auto toolchain = find_toolchain())
    for (const char* folder : {"lib", "lib64", "extras/CUPTI/lib64", "../cuda_cupti/lib"})
      for (const char* name : {"libcupti.so.13", "libcupti.so.12"})
        if (const fs::path file = toolchain->root / folder / name; fs::is_regular_file(file, error))
          found.push_back(fs::canonical(file, error).string());
  found.insert(found.end(), {"libcupti.so.13", "libcupti.so.12"});
  return found;
}

} // namespace

Result<CudaSettings> cuda_settings() {
  CudaSettings settings;
  const std::string wanted = setting("KERNEVO_LIBCUDA", "libcuda.so.1");
  settings.libcuda = found_as(wanted);
  if (settings.libcuda.empty()) {
    if (wanted == "libcuda.so.1")
      return fail(ErrorCode::input, "no CUDA driver (libcuda.so.1 was not found)", std::nullopt,
                  "install NVIDIA's driver, or name its library with KERNEVO_LIBCUDA");
    return fail(ErrorCode::input, "KERNEVO_LIBCUDA names no library that loads", Place{wanted});
  }
  std::error_code error;
  const fs::path folder = fs::absolute(settings.libcuda, error).parent_path();
  // A library that plays a GPU has its own beside it.
  const fs::path beside = folder / "libnvidia-ml.so.1";
  settings.libnvml = setting(
      "KERNEVO_LIBNVML", fs::is_regular_file(beside, error) ? beside.c_str() : "libnvidia-ml.so.1");
  settings.libcupti = libraries_of_counters(folder);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equal = text.find('=');
    if (equal != std::string_view::npos && concerns_libraries(text.substr(0, equal)))
      settings.environment[std::string(text.substr(0, equal))] = text.substr(equal + 1);
  }
  settings.environment["CUDA_CACHE_DISABLE"] = "1";
  // What plays a GPU gives the times of that GPU or none: a wall clock would be neither.
  settings.environment["KERNEVO_TIME"] = "modelled";
  // Several CUDA devices count alike here, in nvidia-smi and in NVML.
  settings.environment.emplace("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  const auto read = [&](const fs::path& path) {
    if (!path.empty())
      settings.readable.push_back(path.string());
  };
  read(folder);
  read(folder.parent_path()); // helpers of a library that plays a GPU
  read(fs::absolute(settings.libnvml, error).parent_path());
  for (const std::string& library : settings.libcupti)
    if (fs::path(library).is_absolute())
      read(fs::canonical(library, error).parent_path());
  if (const auto share = share_folder()) {
    read(*share);
    // What plays a GPU may look elsewhere, where the worker sees nothing.
    settings.environment.emplace("KERNEVO_SHARE", fs::absolute(*share, error).string());
  }
  if (const fs::path own = fs::absolute(own_gpu_folder(), error);
      !own.empty() && fs::is_directory(own, error)) {
    read(own);
    settings.environment["KERNEVO_GPUS"] = own.string();
  }
  if (const auto toolchain = find_toolchain())
    read(fs::canonical(toolchain->root, error));
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    read(program.parent_path());
  return settings;
}

} // namespace kernevo
