#include "kernevo/cuda/core/streams.h"

#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <chrono>

namespace kernevo::cuda {
namespace {

constexpr int kGreatestPriority = -5;

} // namespace

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr)
    return Session::get().set_error(cudaErrorInvalidValue);
  *stream = new CUstream_st();
  (*stream)->flags = flags;
  (*stream)->priority = std::clamp(priority, kGreatestPriority, 0);
  return cudaSuccess;
}

cudaError_t destroy_stream(cudaStream_t stream) {
  if (!CUstream_st::has(stream))
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}

cudaError_t wait_for_event(cudaStream_t handle, cudaEvent_t event) {
  if (!is_stream(handle) || !CUevent_st::has(event))
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = stream_of(handle);
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
  if (function == nullptr)
    return Session::get().set_error(cudaErrorInvalidValue);
  return Session::get().submit(
      stream,
      [=] {
        function(data);
        return cudaSuccess;
      },
      cudaGraphNodeTypeHost);
}

cudaError_t stream_priorities(int* least, int* greatest) {
  if (least != nullptr)
    *least = 0;
  if (greatest != nullptr)
    *greatest = kGreatestPriority;
  return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  if (event == nullptr)
    return Session::get().set_error(cudaErrorInvalidValue);
  *event = new CUevent_st();
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  if (!CUevent_st::has(event))
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t handle) {
  if (!CUevent_st::has(event) || !is_stream(handle))
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
  if (milliseconds == nullptr)
    return Session::get().set_error(cudaErrorInvalidValue);
  if (!CUevent_st::has(begin) || !CUevent_st::has(end) || !begin->timed || !end->timed ||
      begin->at == never || end->at == never)
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return cudaSuccess;
}

cudaError_t stream_state(cudaStream_t handle) {
  return is_stream(handle) ? Session::get().last_error(false)
                           : Session::get().set_error(cudaErrorInvalidResourceHandle);
}

cudaError_t event_state(cudaEvent_t event) {
  return CUevent_st::has(event) ? Session::get().last_error(false)
                                : Session::get().set_error(cudaErrorInvalidResourceHandle);
}

cudaError_t capture_status(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  if (status == nullptr)
    return Session::get().set_error(cudaErrorInvalidValue);
  if (!is_stream(handle))
    return Session::get().set_error(cudaErrorInvalidResourceHandle);
  const CUstream_st* const stream = stream_of(handle);
  *status = stream != nullptr && stream->capturing() ? cudaStreamCaptureStatusActive
                                                     : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

} // namespace kernevo::cuda
