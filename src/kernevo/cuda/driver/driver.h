// What the files of the driver's interface share.
#pragma once

#include "kernevo/cuda/core/last_error.h"
#include "kernevo/cuda/core/memory.h" // IWYU pragma: export

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <type_traits>

extern "C" {
// Of cudaProfiler.h, which not every toolkit brings.
CUresult cuProfilerInitialize(const char* config, const char* output, int mode);
CUresult cuProfilerStart();
CUresult cuProfilerStop();
int kernevoStandIn(char* text, int size);
// cuda.h declares it only for programs whose null stream is the thread's.
CUresult cuGetProcAddress_v2_ptsz(const char* symbol, void** function, int version,
                                  cuuint64_t flags, CUdriverProcAddressQueryResult* status);
}

namespace kernevo::cuda {

// The driver's number of an error of the core.
CUresult driver_result(cudaError_t error);

// Whether cuInit was called and a context is current in this thread; a fault ends a context.
CUresult ready();
// Whether cuInit was called and there is such a device.
CUresult device_of(CUdevice device);

// A device pointer is a host address.
inline void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address); // NOLINT
}

// A kernel's handle in the driver is the key it has in the session.
inline const void* key_of(CUfunction function) {
  return function;
}

// The same value as the other interface declares it: enumerators, addresses and pointers.
template <class To, class From> To as(From from) {
  if constexpr (std::is_same_v<To, From>)
    return from;
  else if constexpr (std::is_pointer_v<To> || std::is_pointer_v<From>)
    return reinterpret_cast<To>(from); // NOLINT
  else
    return static_cast<To>(from);
}

// Calls the runtime's function of the same meaning and layout; its last error stays what it was.
template <class... Parameters, class... Arguments>
CUresult same(cudaError_t (*function)(Parameters...), Arguments... arguments) {
  if (const CUresult no = ready(); no != CUDA_SUCCESS)
    return no;
  const KeepsLastError keeps;
  return driver_result(function(as<Parameters>(arguments)...));
}

} // namespace kernevo::cuda

// For a pointer that the caller must give.
#define KERNEVO_NEED(pointer)                                                                      \
  do {                                                                                             \
    if ((pointer) == nullptr)                                                                      \
      return CUDA_ERROR_INVALID_VALUE;                                                             \
  } while (false)
#define KERNEVO_READY()                                                                            \
  do {                                                                                             \
    if (const CUresult not_ready = kernevo::cuda::ready(); not_ready != CUDA_SUCCESS)              \
      return not_ready;                                                                            \
  } while (false)
