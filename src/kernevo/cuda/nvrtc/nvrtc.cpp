// libnvrtc in front of NVIDIA's: programs that ask for machine code, which nothing here executes,
// are given PTX. Everything else is handed on.
#include "kernevo/cuda/nvrtc/true_library.h"

#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace {

using Program = void*;
constexpr int kInvalidOption = 5;
constexpr int kNoCompiler = 11; // NVRTC_ERROR_INTERNAL_ERROR: NVIDIA's library is not there

void* library() {
  static void* const opened =
      kernevo::cuda::open_true_library("KERNEVO_NVRTC", {KERNEVO_TRUE_NVRTC});
  return opened;
}

template <class Function> Function* real(const char* name) {
  return library() == nullptr ? nullptr
                              : reinterpret_cast<Function*>(dlsym(library(), name)); // NOLINT
}

// --gpu-architecture=sm_80 -> --gpu-architecture=compute_80
std::string for_ptx(std::string option) {
  const auto at = option.find("sm_");
  if (option.find("arch") != std::string::npos && at != std::string::npos)
    option.replace(at, 3, "compute_");
  else if (option.starts_with("sm_"))
    option.replace(0, 3, "compute_");
  return option;
}

const char* no_compiler_text(int /*result*/) {
  return "NVRTC_ERROR_INTERNAL_ERROR";
}

} // namespace

extern "C" {

int nvrtcCompileProgram(Program program, int count, const char* const* options) {
  auto* const compile = real<int(Program, int, const char* const*)>("nvrtcCompileProgram");
  if (compile == nullptr)
    return kNoCompiler;
  std::vector<std::string> kept;
  for (int i = 0; i < count; ++i)
    if (options == nullptr || options[i] == nullptr)
      return kInvalidOption;
    else
      kept.push_back(for_ptx(options[i]));
  std::vector<const char*> pointers;
  for (const std::string& option : kept)
    pointers.push_back(option.c_str());
  return compile(program, count, pointers.data());
}
int nvrtcGetCUBINSize(Program program, std::size_t* bytes) {
  auto* const get = real<int(Program, std::size_t*)>("nvrtcGetPTXSize");
  return get == nullptr ? kNoCompiler : get(program, bytes);
}
int nvrtcGetCUBIN(Program program, char* code) {
  auto* const get = real<int(Program, char*)>("nvrtcGetPTX");
  return get == nullptr ? kNoCompiler : get(program, code);
}

// Six words and a double at most are what any of these takes: the arguments pass through.
#define KERNEVO_NVRTC(name)                                                                        \
  std::size_t name(std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e,      \
                   std::size_t f) {                                                                \
    using Any =                                                                                    \
        std::size_t(std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t); \
    if (auto* const function = real<Any>(#name))                                                   \
      return function(a, b, c, d, e, f);                                                           \
    if (std::strcmp(#name, "nvrtcGetErrorString") == 0)                                            \
      return reinterpret_cast<std::size_t>(no_compiler_text(0)); /* NOLINT */                      \
    return kNoCompiler;                                                                            \
  }
#include "kernevo/cuda/nvrtc/functions.def"

} // extern "C"
