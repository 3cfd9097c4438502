#include "kernevo/cuda/core/modules.h"

#include "kernevo/cuda/core/fatbin.h"
#include "kernevo/model/register_limit.h"
#include "kernevo/vgpu/program/kernels.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace kernevo::cuda {

cudaError_t load_texts(Module** loaded, std::vector<std::string> texts) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Module* const module = session.add_module(nullptr);
  module->texts = std::move(texts);
  if (session.program(*module) == nullptr)
    return module->error && module->error->code == ErrorCode::unsupported ? cudaErrorNotSupported
                                                                          : cudaErrorInvalidPtx;
  *loaded = module;
  return cudaSuccess;
}

std::optional<std::string> read_image_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

cudaError_t load_module(Module** loaded, const void* image, int most_registers) {
  if (loaded == nullptr)
    return cudaErrorInvalidValue;
  auto text = ptx_of_image(image, Session::get().machine().gpu().compute_capability);
  if (!text) {
    fmt::print(stderr, "kernevo: {}\n", format_error(text.error()));
    return cudaErrorNoKernelImageForDevice;
  }
  if (most_registers > 0)
    for (std::string& one : *text)
      one = with_register_limit(one, most_registers);
  return load_texts(loaded, std::move(*text));
}

cudaError_t find_function(const void** key, Module* module, const char* name) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  const auto* program = Module::has(module) ? session.program(*module) : nullptr;
  if (program == nullptr)
    return cudaErrorInvalidResourceHandle;
  if (name == nullptr)
    return cudaErrorInvalidValue;
  if (!vgpu::find_kernel(*program, name))
    return cudaErrorSymbolNotFound;
  for (const auto& [known, handle] : module->functions)
    if (known == name) {
      *key = handle;
      return cudaSuccess;
    }
  // Any address of its own will do as the key; it lives as long as the process.
  *key = new char;
  session.add_kernel(module, *key, name);
  module->functions.emplace_back(name, *key);
  return cudaSuccess;
}

cudaError_t find_global(std::uint64_t* address, std::size_t* bytes, Module* module,
                        const char* name) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  const auto* program = Module::has(module) ? session.program(*module) : nullptr;
  if (program == nullptr)
    return cudaErrorInvalidResourceHandle;
  if (name == nullptr)
    return cudaErrorInvalidValue;
  const auto found = session.machine().variable(*program, name);
  if (!found)
    return cudaErrorSymbolNotFound;
  if (address != nullptr)
    *address = *found;
  if (bytes != nullptr)
    *bytes = session.machine().bytes(*found).size();
  return cudaSuccess;
}

cudaError_t load_module_file(Module** loaded, const char* path) {
  if (path == nullptr)
    return cudaErrorInvalidValue;
  const auto bytes = read_image_file(path);
  return bytes ? load_module(loaded, bytes->c_str()) : cudaErrorFileNotFound;
}

cudaError_t unload_module(Module* module) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (!Module::has(module) || module->unloaded)
    return cudaErrorInvalidResourceHandle;
  session.drop_module(module);
  return cudaSuccess;
}

} // namespace kernevo::cuda
