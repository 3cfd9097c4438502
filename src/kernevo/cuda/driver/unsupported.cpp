// A weak definition of every function of the driver, see core/unsupported.h.
#include "kernevo/cuda/core/unsupported.h"

#define KERNEVO_DRIVER(symbol, name, version)                                                      \
  extern "C" __attribute__((weak, noinline, section("kernevo_unsupported"))) int symbol() {        \
    return kernevo::cuda::not_supported(#symbol);                                                  \
  }
#define KERNEVO_DRIVER_PER_THREAD(symbol, name, version, same)
#include "kernevo/cuda/driver/functions.def"
