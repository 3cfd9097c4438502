// The functions of the runtime whose null stream is the thread's own. Programs may still use those
// that NVIDIA advises against.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include "kernevo/cuda/core/per_thread.h"
#include "kernevo/cuda/core/toolkit_12.h"

extern "C" {
// Of the compiler's own headers.
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream);
}

#define KERNEVO_RUNTIME(symbol)
#define KERNEVO_RUNTIME_PER_THREAD(symbol, same) KERNEVO_PER_THREAD(symbol, same);
#include "kernevo/cuda/runtime/functions.def"

#define KERNEVO_TOOLKIT_12(symbol)
#define KERNEVO_TOOLKIT_12_PER_THREAD(symbol, same)                                                \
  KERNEVO_PER_THREAD(toolkit12_##symbol, toolkit12_##same);
#include "kernevo/cuda/runtime/changed_12.def"
