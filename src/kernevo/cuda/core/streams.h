// Streams and events: an event is a point of a stream's queue and the time it was reached.
#pragma once

#include <cuda_runtime_api.h>

namespace kernevo::cuda {

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t destroy_stream(cudaStream_t stream);
cudaError_t wait_for_event(cudaStream_t handle, cudaEvent_t event);
cudaError_t run_on_host(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t stream_priorities(int* least, int* greatest);
cudaError_t create_event(cudaEvent_t* event, unsigned flags);
cudaError_t destroy_event(cudaEvent_t event);
cudaError_t record_event(cudaEvent_t event, cudaStream_t handle);
cudaError_t elapsed_time(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
// These do not touch the last error. A query says cudaErrorNotReady while work is left.
cudaError_t synchronize_device();
cudaError_t synchronize_stream(cudaStream_t handle);
cudaError_t query_stream(cudaStream_t handle);
cudaError_t synchronize_event(cudaEvent_t event);
cudaError_t query_event(cudaEvent_t event);
cudaError_t capture_status(cudaStream_t handle, cudaStreamCaptureStatus* status);

} // namespace kernevo::cuda
