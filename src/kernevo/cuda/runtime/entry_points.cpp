// Functions of the driver for programs that know only the runtime.
#include "kernevo/cuda/core/entry_points.h"

#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/last_error.h"

using kernevo::cuda::EntryPoint;
using kernevo::cuda::set_error;

extern "C" {

// Programs try which functions there are: one that is not there leaves no last error behind.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  if (symbol == nullptr || function == nullptr)
    return set_error(cudaErrorInvalidValue);
  const bool per_thread =
      (flags & cudaEnablePerThreadDefaultStream) != 0 ||
      (kernevo::cuda::null_stream_is_the_threads() && (flags & cudaEnableLegacyStream) == 0);
  const EntryPoint found =
      kernevo::cuda::find_entry_point(symbol, static_cast<int>(version), per_thread);
  *function = found.function;
  if (status != nullptr)
    *status = found.function != nullptr ? cudaDriverEntryPointSuccess
              : found.is_newer          ? cudaDriverEntryPointVersionNotSufficent
                                        : cudaDriverEntryPointSymbolNotFound;
  return found.function != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}

} // extern "C"
