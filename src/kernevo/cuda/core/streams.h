// Streams and events. Work is done when the call returns, so waiting is nothing and an event is a
// point in time.
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
// All work is done: what is left to say is the last error.
cudaError_t stream_state(cudaStream_t handle);
cudaError_t event_state(cudaEvent_t event);
cudaError_t capture_status(cudaStream_t handle, cudaStreamCaptureStatus* status);

} // namespace kernevo::cuda
