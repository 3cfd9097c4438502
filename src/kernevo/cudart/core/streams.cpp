#include "kernevo/cudart/core/streams.h"

#include "kernevo/cudart/core/session.h"

#include <algorithm>
#include <chrono>

namespace kernevo::cudart {
namespace {

constexpr int kGreatestPriority = -5;

} // namespace

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  *stream = new CUstream_st();
  (*stream)->flags = flags;
  (*stream)->priority = std::clamp(priority, kGreatestPriority, 0);
  return cudaSuccess;
}

cudaError_t destroy_stream(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}

cudaError_t wait_for_event(cudaStream_t handle, cudaEvent_t event) {
  CUstream_st* const stream = stream_of(handle);
  if (event == nullptr)
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
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

cudaError_t run_on_host(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return Session::get().submit(
      stream,
      [=] {
        function(data);
        return cudaSuccess;
      },
      cudaGraphNodeTypeHost);
}

cudaError_t stream_priorities(int* least, int* greatest) {
  *least = 0;
  *greatest = kGreatestPriority;
  return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st();
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t handle) {
  if (event == nullptr)
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
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

cudaError_t elapsed_time(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  constexpr std::chrono::steady_clock::time_point never;
  if (begin == nullptr || end == nullptr || !begin->timed || !end->timed || begin->at == never ||
      end->at == never)
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return cudaSuccess;
}

cudaStreamCaptureStatus capture_status(cudaStream_t handle) {
  const CUstream_st* const stream = stream_of(handle);
  return stream != nullptr && stream->capturing() ? cudaStreamCaptureStatusActive
                                                  : cudaStreamCaptureStatusNone;
}

} // namespace kernevo::cudart
