// Any bytes either become a module or a clean error.
#include "kernevo/ptx/parse.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed =
      kernevo::ptx::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed) {
    if (parsed.error().message.empty() || !parsed.error().place)
      std::abort();
    return 0;
  }
  for (const auto& function : parsed->functions)
    for (const auto& [label, index] : function.labels)
      if (index > function.instructions.size())
        std::abort();
  return 0;
}
