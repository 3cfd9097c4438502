// Streams and events.
#include "kernevo/cuda/core/streams.h"

#include "kernevo/cuda/core/recording.h"
#include "kernevo/cuda/core/session.h"

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

// That work is left is an answer, not an error to remember.
cudaError_t told(cudaError_t error) {
  return error == cudaErrorNotReady ? error : set_error(error);
}

} // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create_stream(stream, 0, 0);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return destroy_stream(stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return set_error(synchronize_stream(stream));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return told(query_stream(stream));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned /*flags*/) {
  return wait_for_event(handle, event);
}
cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  if (!is_stream(handle))
    return kernevo::cuda::set_error(cudaErrorInvalidResourceHandle);
  const CUstream_st* const stream = stream_of(handle);
  *priority = stream->priority;
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  if (!is_stream(handle))
    return kernevo::cuda::set_error(cudaErrorInvalidResourceHandle);
  const CUstream_st* const stream = stream_of(handle);
  *flags = stream->flags;
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t /*stream*/, int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  if (!is_stream(stream) || id == nullptr)
    return set_error(cudaErrorInvalidResourceHandle);
  *id = stream_of(stream)->queue->id();
  return cudaSuccess;
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t /*to*/, cudaStream_t /*from*/) {
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned /*flags*/) {
  if (callback == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  return Session::get().submit(
      stream,
      [=] {
        if (kernevo::cuda::Recording::is_on())
          kernevo::cuda::Recording::get().refuse("a function of the host in a stream");
        callback(stream, cudaSuccess, data);
        return cudaSuccess;
      },
      cudaGraphNodeTypeHost);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return run_on_host(stream, function, data);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t /*stream*/, void* /*pointer*/,
                                     std::size_t /*bytes*/, unsigned /*flags*/) {
  return cudaSuccess;
}
cudaError_t cudaStreamSetAttribute(cudaStream_t /*stream*/, cudaLaunchAttributeID /*attribute*/,
                                   const cudaLaunchAttributeValue* /*value*/) {
  return cudaSuccess;
}
cudaError_t cudaStreamGetAttribute(cudaStream_t /*stream*/, cudaLaunchAttributeID /*attribute*/,
                                   cudaLaunchAttributeValue* value) {
  *value = {};
  return cudaSuccess;
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return stream_priorities(least, greatest);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return create_event(event, 0);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return create_event(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return destroy_event(event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  return record_event(event, handle);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned /*flags*/) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return set_error(synchronize_event(event));
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return told(query_event(event));
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return elapsed_time(milliseconds, begin, end);
}

} // extern "C"
