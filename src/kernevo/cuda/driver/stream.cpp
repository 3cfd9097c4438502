// The driver's interface: streams and events. What has the runtime's layout is the runtime's.
#include "kernevo/cuda/core/streams.h"

#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/recording.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/driver/driver.h"

#include <atomic>
#include <thread>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

CUstream_st* known_stream(CUstream stream) {
  return is_stream(stream) ? stream_of(stream) : nullptr;
}

// Memory of the program's that a stream waits for or writes: one word.
template <class Word>
CUresult wait_value(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  const auto* const word = static_cast<Word*>(pointer_of(address));
  if (Session::get().machine().bytes(address).empty())
    return CUDA_ERROR_INVALID_VALUE;
  const unsigned kind = flags & 3U;
  return driver_result(Session::get().submit(stream, [=] {
    if (Recording::is_on()) {
      Recording::get().refuse("a stream that waits for a value");
      return cudaErrorNotSupported; // nobody else works meanwhile
    }
    const auto holds = [&] {
      const Word now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
      return kind == CU_STREAM_WAIT_VALUE_EQ    ? now == value
             : kind == CU_STREAM_WAIT_VALUE_AND ? (now & value) != 0
             : kind == CU_STREAM_WAIT_VALUE_NOR
                 ? static_cast<Word>(~(now | value)) != 0
                 : static_cast<std::make_signed_t<Word>>(now - value) >= 0;
    };
    while (!holds() && !is_ending())
      std::this_thread::yield();
    return cudaSuccess;
  }));
}

template <class Word> CUresult write_value(CUstream stream, CUdeviceptr address, Word value) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  auto* const word = static_cast<Word*>(pointer_of(address));
  if (Session::get().machine().bytes(address).empty())
    return CUDA_ERROR_INVALID_VALUE;
  return driver_result(Session::get().submit(stream, [=] {
    if (Recording::is_on())
      Recording::get().refuse("a stream that writes a value");
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    return cudaSuccess;
  }));
}

} // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(create_stream(stream, flags, 0));
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(create_stream(stream, flags, priority));
}
CUresult cuStreamDestroy(CUstream stream) {
  const KeepsLastError keeps;
  return driver_result(destroy_stream(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  KERNEVO_READY();
  return driver_result(synchronize_stream(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  KERNEVO_READY();
  return driver_result(query_stream(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  KERNEVO_READY();
  if (flags > CU_EVENT_WAIT_EXTERNAL)
    return CUDA_ERROR_INVALID_VALUE;
  const KeepsLastError keeps;
  return driver_result(wait_for_event(stream, event));
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(run_on_host(stream, function, data));
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
  KERNEVO_READY();
  if (callback == nullptr || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const KeepsLastError keeps;
  return driver_result(Session::get().submit(
      stream,
      [=] {
        if (Recording::is_on())
          Recording::get().refuse("a function of the host in a stream");
        callback(stream, driver_result(fault()), data);
        return cudaSuccess;
      },
      cudaGraphNodeTypeHost));
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  KERNEVO_NEED(context);
  KERNEVO_READY();
  const CUstream_st* const known = known_stream(stream);
  if (known == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *context = known->context != nullptr ? known->context : current_context();
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr)
    *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* green) {
  KERNEVO_NEED(green);
  KERNEVO_READY();
  *green = nullptr;
  return known_stream(stream) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  KERNEVO_NEED(device);
  KERNEVO_READY();
  *device = 0;
  return known_stream(stream) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  KERNEVO_NEED(id);
  KERNEVO_READY();
  const CUstream_st* const known = known_stream(stream);
  if (known == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *id = known->queue->id();
  return CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  KERNEVO_NEED(flags);
  KERNEVO_READY();
  const CUstream_st* const known = known_stream(stream);
  if (known == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *flags = known->flags;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  KERNEVO_NEED(priority);
  KERNEVO_READY();
  const CUstream_st* const known = known_stream(stream);
  if (known == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *priority = known->priority;
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return wait_value<std::uint32_t>(stream, address, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return wait_value<cuuint64_t>(stream, address, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned /*flags*/) {
  return write_value<std::uint32_t>(stream, address, value);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned /*flags*/) {
  return write_value<cuuint64_t>(stream, address, value);
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(create_event(event, flags));
}
CUresult cuEventDestroy(CUevent event) {
  const KeepsLastError keeps;
  return driver_result(destroy_event(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(record_event(event, stream));
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return flags > CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_INVALID_VALUE : cuEventRecord(event, stream);
}
CUresult cuEventSynchronize(CUevent event) {
  KERNEVO_READY();
  return driver_result(synchronize_event(event));
}
CUresult cuEventQuery(CUevent event) {
  KERNEVO_READY();
  return driver_result(query_event(event));
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(elapsed_time(milliseconds, begin, end));
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return same(cudaStreamIsCapturing, stream, status);
}

} // extern "C"
