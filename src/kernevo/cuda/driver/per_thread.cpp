// The functions of the driver whose null stream is the thread's own.
#define __CUDA_API_VERSION_INTERNAL // names as they are, no macros that give them versions
#include "kernevo/cuda/core/per_thread.h"

#include <cuda.h>

#define KERNEVO_DRIVER(symbol, name, version)
#define KERNEVO_DRIVER_PER_THREAD(symbol, name, version, same) KERNEVO_PER_THREAD(symbol, same);
#include "kernevo/cuda/driver/functions.def"
