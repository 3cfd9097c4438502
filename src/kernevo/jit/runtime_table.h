// The runtime library as machine code, once per processor level, carried inside this library.
#pragma once

#include <string_view>

namespace kernevo::jit {

struct RuntimeEntry {
  const char* name; // null after the last
  void (*function)();
};

// For a level ("x86-64-v3", "generic"); null when the build made none.
const RuntimeEntry* runtime_table(std::string_view level);

} // namespace kernevo::jit
