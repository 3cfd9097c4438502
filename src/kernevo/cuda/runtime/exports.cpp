// libcudart.so.13
#include "kernevo/cuda/core/trampoline.h"

#define KERNEVO_RUNTIME(symbol) KERNEVO_TRAMPOLINE(symbol, kernevo_##symbol);
#define KERNEVO_RUNTIME_PER_THREAD(symbol, same) KERNEVO_TRAMPOLINE(symbol, kernevo_##symbol);
#include "kernevo/cuda/runtime/functions.def"
