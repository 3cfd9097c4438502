// libcuda.so.1
#include "kernevo/cuda/core/trampoline.h"

#define KERNEVO_DRIVER(symbol, name, version) KERNEVO_TRAMPOLINE(symbol, kernevo_##symbol);
#define KERNEVO_DRIVER_PER_THREAD(symbol, name, version, same)                                     \
  KERNEVO_TRAMPOLINE(symbol, kernevo_##symbol);
#include "kernevo/cuda/driver/functions.def"
KERNEVO_TRAMPOLINE(kernevoStandIn, kernevo_kernevoStandIn);
