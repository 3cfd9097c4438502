#include "kernevo/cuda/core/host_operator.h"

#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/pricing.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

cudaError_t kernevo_begin_operator(cudaStream_t stream, int* priced) {
  need_context();
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  if (!queues_are_ours())
    return cudaErrorInitializationError;
  const CUstream_st& where = *stream_of(stream);
  if (where.capturing())
    return cudaErrorStreamCaptureUnsupported;
  wait_for(where.queue->last());
  *priced = pricing().wanted() ? 1 : 0;
  return fault();
}

cudaError_t kernevo_end_operator(cudaStream_t stream, const KernevoOperator* done) {
  if (!pricing().wanted())
    return cudaSuccess;
  const auto price = [done] {
    pricing().add_operator(done->name, done->bytes, done->flops, done->arithmetic);
    return cudaSuccess;
  };
  if (TimedWork::current() != nullptr)
    return price();
  return Session::get().pass(stream, price);
}

cudaError_t kernevo_submit_operators(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return Session::get().submit(
      stream,
      [=] {
        if (fault() == cudaSuccess)
          function(data);
        return fault();
      },
      cudaGraphNodeTypeHost);
}
