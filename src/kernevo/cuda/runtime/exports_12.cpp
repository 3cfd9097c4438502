// libcudart.so.12: most functions are those of toolkit 13; the others convert.
#include "kernevo/cuda/core/trampoline.h"

#define KERNEVO_RUNTIME_12(symbol, same) KERNEVO_TRAMPOLINE(symbol, kernevo_##same);
#include "kernevo/cuda/runtime/functions_12.def"
