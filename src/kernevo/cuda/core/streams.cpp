#include "kernevo/cuda/core/streams.h"

#include "kernevo/cuda/common/faults.h"
#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/pricing.h"
#include "kernevo/cuda/core/recording.h"
#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <chrono>

namespace kernevo::cuda {
namespace {

constexpr int kGreatestPriority = -5;
constexpr double kMillisecondsPerNanosecond = 1e-6;

} // namespace

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  need_context();
  if (stream == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0)
    return set_error(cudaErrorInvalidValue);
  if (!queues_are_ours())
    return set_error(cudaErrorInitializationError);
  // First the default stream, or it would be made where a stream was that the program gave back.
  (void)stream_of(cudaStreamLegacy);
  auto* const made = new CUstream_st((flags & cudaStreamNonBlocking) != 0 ? QueueKind::independent
                                                                          : QueueKind::blocking);
  made->flags = flags;
  made->priority = std::clamp(priority, kGreatestPriority, 0);
  made->context = current_context();
  *stream = made;
  return cudaSuccess;
}

// What it was given is still done.
cudaError_t destroy_stream(cudaStream_t stream) {
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread || !CUstream_st::has(stream))
    return set_error(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}

cudaError_t wait_for_event(cudaStream_t handle, cudaEvent_t event) {
  if (!is_stream(handle) || !CUevent_st::has(event))
    return set_error(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = stream_of(handle);
  if (event->capture == nullptr || !event->capture->open) {
    if (stream->capturing())
      return set_error(cudaErrorStreamCaptureIsolation);
    if (pricing().wanted())
      pricing().clock().wait(stream->time, event->time);
    if (Recording::is_on())
      Recording::get().wait(Recording::get().number_of(*stream), event->recorded);
    if (!is_reached(event->point))
      stream->queue->add(nullptr, {event->point});
    return cudaSuccess;
  }
  const std::lock_guard lock(Session::get().mutex);
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
    return set_error(cudaErrorInvalidValue);
  return Session::get().submit(
      stream,
      [=] {
        if (Recording::is_on())
          Recording::get().refuse("a function of the host in a stream");
        if (fault() == cudaSuccess)
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
  need_context();
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (event == nullptr || (flags & ~known) != 0 ||
      ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0))
    return set_error(cudaErrorInvalidValue);
  *event = new CUevent_st();
  (*event)->flags = flags;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  (*event)->context = current_context();
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  if (!CUevent_st::has(event))
    return set_error(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t handle) {
  if (!CUevent_st::has(event) || !is_stream(handle))
    return set_error(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = stream_of(handle);
  const std::lock_guard lock(Session::get().mutex);
  if (stream->capturing()) {
    event->capture = stream->capture;
    event->nodes = stream->last;
    return cudaSuccess;
  }
  event->capture.reset();
  event->nodes.clear();
  event->recorded =
      Recording::is_on() ? Recording::get().record(Recording::get().number_of(*stream)) : 0;
  const auto reached = std::make_shared<CUevent_st::Reached>();
  event->reached = reached;
  // Whoever records an event with a time may ask for it.
  if (event->timed)
    pricing().want();
  if (pricing().wanted())
    event->time = pricing().clock().record(stream->time);
  event->point = stream->queue->add([reached] {
    reached->at = std::chrono::steady_clock::now();
    return cudaSuccess;
  });
  return cudaSuccess;
}

cudaError_t elapsed_time(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  std::shared_ptr<EventTime> from;
  std::shared_ptr<EventTime> to;
  double shown = 0; // milliseconds, by the wall clock where nothing is modelled
  {
    const std::lock_guard lock(Session::get().mutex);
    if (milliseconds == nullptr)
      return set_error(cudaErrorInvalidValue);
    if (!CUevent_st::has(begin) || !CUevent_st::has(end) || !begin->timed || !end->timed ||
        begin->reached == nullptr || end->reached == nullptr)
      return set_error(cudaErrorInvalidResourceHandle);
    if (!is_reached(begin->point) || !is_reached(end->point))
      return set_error(cudaErrorNotReady);
    shown =
        std::chrono::duration<double, std::milli>(end->reached->at - begin->reached->at).count();
    from = begin->time;
    to = end->time;
  }
  const bool entered = from != nullptr && to != nullptr;
  if (entered && !pricing().modelled() && pricing().required())
    return set_error(cudaErrorNotSupported);
  if (entered && pricing().modelled()) {
    StreamClock& clock = pricing().clock();
    const auto elapsed = clock.elapsed_ns(from, to); // may wait for prices
    if (!elapsed)
      return set_error(cudaErrorNotReady);
    // Who has their time has seen them happen.
    clock.host_waited_for(from);
    clock.host_waited_for(to);
    shown = *elapsed * kMillisecondsPerNanosecond;
  }
  *milliseconds = static_cast<float>(Faults::get().elapsed(shown));
  return cudaSuccess;
}

cudaError_t synchronize_device() {
  if (is_queue_thread())
    return cudaErrorNotPermitted;
  if (!queues_are_ours())
    return cudaErrorInitializationError;
  wait_for_all_work();
  if (pricing().wanted())
    pricing().clock().host_waited_for_all();
  if (Recording::is_on())
    Recording::get().waited_for_all();
  return outcome_of_work();
}

cudaError_t synchronize_stream(cudaStream_t handle) {
  if (!is_stream(handle))
    return cudaErrorInvalidResourceHandle;
  const CUstream_st* const stream = stream_of(handle);
  if (stream->capturing())
    return cudaErrorStreamCaptureUnsupported;
  if (is_queue_thread())
    return cudaErrorNotPermitted;
  wait_for(stream->queue->last());
  if (pricing().wanted())
    pricing().clock().host_waited(stream->time);
  if (Recording::is_on())
    Recording::get().waited_for_stream(Recording::get().number_of(*stream));
  return outcome_of_work();
}

cudaError_t query_stream(cudaStream_t handle) {
  if (!is_stream(handle))
    return cudaErrorInvalidResourceHandle;
  const CUstream_st* const stream = stream_of(handle);
  if (stream->capturing())
    return cudaErrorStreamCaptureUnsupported;
  if (const cudaError_t broken = fault(); broken != cudaSuccess)
    return broken;
  if (!is_reached(stream->queue->last()))
    return cudaErrorNotReady;
  if (pricing().wanted())
    pricing().clock().host_waited(stream->time);
  if (Recording::is_on())
    Recording::get().waited_for_stream(Recording::get().number_of(*stream));
  return cudaSuccess;
}

cudaError_t synchronize_event(cudaEvent_t event) {
  if (!CUevent_st::has(event))
    return cudaErrorInvalidResourceHandle;
  if (is_queue_thread())
    return cudaErrorNotPermitted;
  Point point;
  std::shared_ptr<EventTime> time;
  std::uint64_t recorded = 0;
  {
    const std::lock_guard lock(Session::get().mutex);
    point = event->point;
    time = event->time;
    recorded = event->recorded;
  }
  wait_for(point);
  if (pricing().wanted())
    pricing().clock().host_waited_for(time);
  if (Recording::is_on())
    Recording::get().waited_for_point(recorded);
  return outcome_of_work();
}

cudaError_t query_event(cudaEvent_t event) {
  const std::lock_guard lock(Session::get().mutex);
  if (!CUevent_st::has(event))
    return cudaErrorInvalidResourceHandle;
  if (const cudaError_t broken = fault(); broken != cudaSuccess)
    return broken;
  if (!is_reached(event->point))
    return cudaErrorNotReady;
  if (pricing().wanted())
    pricing().clock().host_waited_for(event->time);
  if (Recording::is_on())
    Recording::get().waited_for_point(event->recorded);
  return cudaSuccess;
}

cudaError_t capture_status(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  if (status == nullptr)
    return set_error(cudaErrorInvalidValue);
  if (!is_stream(handle))
    return set_error(cudaErrorInvalidResourceHandle);
  *status =
      stream_of(handle)->capturing() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

} // namespace kernevo::cuda
