// What libkernevo_cuda.so exports: every function under its own name with a prefix.
#include "kernevo/cuda/core/trampoline.h"

#define KERNEVO_DRIVER(symbol, name, version) KERNEVO_TRAMPOLINE(kernevo_##symbol, symbol);
#define KERNEVO_DRIVER_PER_THREAD(symbol, name, version, same)                                     \
  KERNEVO_TRAMPOLINE(kernevo_##symbol, symbol);
#include "kernevo/cuda/driver/functions.def"
KERNEVO_TRAMPOLINE(kernevo_kernevoStandIn, kernevoStandIn);

#define KERNEVO_RUNTIME(symbol) KERNEVO_TRAMPOLINE(kernevo_##symbol, symbol);
#define KERNEVO_RUNTIME_PER_THREAD(symbol, same) KERNEVO_TRAMPOLINE(kernevo_##symbol, symbol);
#include "kernevo/cuda/runtime/functions.def"

#define KERNEVO_TOOLKIT_12(symbol)                                                                 \
  KERNEVO_TRAMPOLINE(kernevo_toolkit12_##symbol, toolkit12_##symbol);
#define KERNEVO_TOOLKIT_12_PER_THREAD(symbol, same)                                                \
  KERNEVO_TRAMPOLINE(kernevo_toolkit12_##symbol, toolkit12_##symbol);
#include "kernevo/cuda/runtime/changed_12.def"
