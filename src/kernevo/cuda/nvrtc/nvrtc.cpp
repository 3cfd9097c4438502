// Programs that compile at run time may ask NVRTC for machine code, which nothing here executes.
// These stand in front of NVRTC's own functions, where the program links it too, and make it PTX.
#include <dlfcn.h>
#include <string>
#include <vector>

namespace {

using Program = void*;
constexpr int kInvalidOption = 5;
constexpr int kNoCompiler = 11; // NVRTC_ERROR_INTERNAL_ERROR: NVRTC itself is not linked

template <class Function> Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name)); // NOLINT
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

} // extern "C"
