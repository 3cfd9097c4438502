#include "kernevo/cuda/core/unsupported.h"

#include "kernevo/cuda/core/notice.h"

#include <mutex>
#include <set>
#include <string>

// The linker knows where the section of the weak definitions begins and ends.
extern "C" {
extern const char __start_kernevo_unsupported[];
extern const char __stop_kernevo_unsupported[];
}

namespace kernevo::cuda {

int not_supported(const char* name) {
  static std::mutex mutex;
  static auto* const told = new std::set<std::string>(); // asked for until the very end
  const std::lock_guard lock(mutex);
  if (told->insert(name).second)
    notice(std::string(name) + " is not supported on the virtual GPU");
  return 801;
}

bool is_supported(const void* function) {
  const auto* const at = static_cast<const char*>(function);
  return at < __start_kernevo_unsupported || at >= __stop_kernevo_unsupported;
}

} // namespace kernevo::cuda
