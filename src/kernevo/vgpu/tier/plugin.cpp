#include "kernevo/vgpu/tier/plugin.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <vector>

namespace kernevo::vgpu {
namespace fs = std::filesystem;

namespace {

constexpr const char* kFile = "libkernevo_jit.so";

Result<Compiler*> open_plugin(fs::path path) {
  if (path.empty()) {
    KERNEVO_TRY(found, find_plugin());
    path = found;
  }
  // Never closed: LLVM does not survive that, and code of it runs until the process ends.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(ErrorCode::infrastructure,
                fmt::format("the compiler does not load: {}", dlerror()));
  using Factory = Compiler* (*)(std::uint32_t);
  const auto factory =
      reinterpret_cast<Factory>(dlsym(library, "kernevo_create_compiler")); // NOLINT
  Compiler* compiler = factory == nullptr ? nullptr : factory(kCompiledAbi);
  if (compiler == nullptr)
    return fail(ErrorCode::infrastructure, "the compiler is of another version of kernevo",
                Place{path.string()}, "reinstall kernevo");
  return compiler;
}

std::atomic<Compiler*>& replacement() {
  static std::atomic<Compiler*> compiler = nullptr;
  return compiler;
}

} // namespace

Result<fs::path> find_plugin() {
  std::error_code error;
  if (const char* set = std::getenv("KERNEVO_JIT_PLUGIN")) {
    if (fs::is_regular_file(set, error))
      return fs::path(set);
    return fail(ErrorCode::infrastructure, "KERNEVO_JIT_PLUGIN names no file", Place{set});
  }
  std::vector<fs::path> folders;
  // Beside what this code is in: the program, or a library that a foreign program loaded.
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&find_plugin), &here) != 0 &&
      here.dli_fname != nullptr) // NOLINT
    folders.push_back(fs::absolute(here.dli_fname, error).parent_path());
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    folders.push_back(program.parent_path());
  std::vector<fs::path> places;
  for (const fs::path& folder : folders) {
    places.push_back(folder / kFile);
    places.push_back(folder.parent_path() / "lib" / "kernevo" / kFile);
    places.push_back(folder / "kernevo" / kFile);
  }
  places.emplace_back(KERNEVO_BUILT_PLUGIN);
  for (const fs::path& place : places)
    if (fs::is_regular_file(place, error))
      return place;
  return fail(ErrorCode::infrastructure, fmt::format("the compiler {} was not found", kFile),
              std::nullopt, "reinstall kernevo, or set KERNEVO_JIT_PLUGIN to the file");
}

Result<Compiler*> load_compiler(const fs::path& path) {
  if (Compiler* replaced = replacement().load())
    return replaced;
  static const Result<Compiler*> compiler = open_plugin(path);
  return compiler;
}

void set_compiler(Compiler* compiler) {
  replacement().store(compiler);
}

} // namespace kernevo::vgpu
