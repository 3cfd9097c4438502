// Stands where NVRTC would: remembers the options and gives out a text.
#include "fake_nvrtc.h"

#include <cstring>

namespace {

std::vector<std::string>& seen() {
  static std::vector<std::string> options;
  return options;
}

constexpr const char* kText = ".version 8.0";

} // namespace

std::vector<std::string> fake_nvrtc_options() {
  return seen();
}

extern "C" {

int nvrtcCompileProgram(void* /*program*/, int count, const char* const* options) {
  seen().assign(options, options + count);
  return 0;
}
int nvrtcGetPTXSize(void* /*program*/, std::size_t* bytes) {
  *bytes = std::strlen(kText) + 1;
  return 0;
}
int nvrtcGetPTX(void* /*program*/, char* text) {
  std::strcpy(text, kText);
  return 0;
}

} // extern "C"
