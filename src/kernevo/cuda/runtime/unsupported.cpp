// A weak definition of every function of the runtime, see core/unsupported.h.
#include "kernevo/cuda/core/unsupported.h"

#include "kernevo/cuda/core/session.h"

namespace {

int refuse(const char* name) {
  return kernevo::cuda::set_error(static_cast<cudaError_t>(kernevo::cuda::not_supported(name)));
}

} // namespace

// No names of the header's: the real definitions have its types.
#define KERNEVO_WEAK(symbol)                                                                       \
  extern "C" __attribute__((                                                                       \
      weak, noinline, section("kernevo_unsupported"))) int kernevo_weak_##symbol() asm(#symbol);   \
  int kernevo_weak_##symbol() {                                                                    \
    return refuse(#symbol);                                                                        \
  }

#define KERNEVO_RUNTIME(symbol) KERNEVO_WEAK(symbol)
#define KERNEVO_RUNTIME_PER_THREAD(symbol, same)
#include "kernevo/cuda/runtime/functions.def"

#define KERNEVO_TOOLKIT_12(symbol) KERNEVO_WEAK(toolkit12_##symbol)
#define KERNEVO_TOOLKIT_12_PER_THREAD(symbol, same)
#include "kernevo/cuda/runtime/changed_12.def"
