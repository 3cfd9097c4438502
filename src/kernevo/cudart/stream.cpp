// Streams and events. Work is done when the call returns, so waiting is nothing and an event is a
// point in time.
#include "kernevo/cudart/runtime.h"

#include <algorithm>
#include <chrono>

using kernevo::cudart::Runtime;
using kernevo::cudart::stream_of;

namespace {

constexpr int kGreatestPriority = -5;

} // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new CUstream_st();
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  *stream = new CUstream_st();
  (*stream)->flags = flags;
  (*stream)->priority = std::clamp(priority, kGreatestPriority, 0);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return Runtime::get().set_error(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) {
  return Runtime::get().last_error(false);
}
cudaError_t cudaStreamQuery(cudaStream_t /*stream*/) {
  return Runtime::get().last_error(false);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned /*flags*/) {
  CUstream_st* const stream = stream_of(handle);
  if (event == nullptr)
    return Runtime::get().set_error(cudaErrorInvalidResourceHandle);
  if (stream == nullptr || event->capture == nullptr || !event->capture->open)
    return cudaSuccess;
  if (stream->capture != event->capture) {
    stream->capture = event->capture;
    stream->last.clear();
  }
  for (CUgraphNode_st* const node : event->nodes)
    if (std::find(stream->last.begin(), stream->last.end(), node) == stream->last.end())
      stream->last.push_back(node);
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  const CUstream_st* const stream = stream_of(handle);
  *priority = stream == nullptr ? 0 : stream->priority;
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  const CUstream_st* const stream = stream_of(handle);
  *flags = stream == nullptr ? 0 : stream->flags;
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t /*stream*/, int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = reinterpret_cast<unsigned long long>(stream); // NOLINT
  return cudaSuccess;
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t /*to*/, cudaStream_t /*from*/) {
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned /*flags*/) {
  return Runtime::get().submit(
      stream,
      [=] {
        callback(stream, cudaSuccess, data);
        return cudaSuccess;
      },
      cudaGraphNodeTypeHost);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return Runtime::get().submit(
      stream,
      [=] {
        function(data);
        return cudaSuccess;
      },
      cudaGraphNodeTypeHost);
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
  *least = 0;
  *greatest = kGreatestPriority;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st();
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  if (event == nullptr)
    return Runtime::get().set_error(cudaErrorInvalidResourceHandle);
  if (const CUstream_st* const stream = stream_of(handle);
      stream != nullptr && stream->capturing()) {
    event->capture = stream->capture;
    event->nodes = stream->last;
    return cudaSuccess;
  }
  event->capture.reset();
  event->nodes.clear();
  event->at = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned /*flags*/) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) {
  return Runtime::get().last_error(false);
}
cudaError_t cudaEventQuery(cudaEvent_t /*event*/) {
  return Runtime::get().last_error(false);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  constexpr std::chrono::steady_clock::time_point never;
  if (begin == nullptr || end == nullptr || !begin->timed || !end->timed || begin->at == never ||
      end->at == never)
    return Runtime::get().set_error(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return cudaSuccess;
}

} // extern "C"
