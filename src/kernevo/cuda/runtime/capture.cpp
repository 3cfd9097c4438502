// Capture: work given to a stream becomes nodes of a graph. A stream that waits for an event of a
// captured stream is captured along with it.
#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"

#include <algorithm>

using kernevo::cuda::Capture;
using kernevo::cuda::capture_status;
using kernevo::cuda::is_stream;
using kernevo::cuda::Session;
using kernevo::cuda::stream_of;

namespace {

cudaError_t begin(cudaStream_t handle, CUgraph_st* graph,
                  std::span<CUgraphNode_st* const> dependencies, bool given) {
  if (!is_stream(handle))
    return kernevo::cuda::set_error(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = stream_of(handle);
  if (stream == stream_of(cudaStreamLegacy))
    return kernevo::cuda::set_error(cudaErrorStreamCaptureUnsupported);
  if (!CUgraph_st::has(graph) || !graph->owns(dependencies))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  if (stream->capturing())
    return kernevo::cuda::set_error(cudaErrorIllegalState);
  static unsigned long long next = 0;
  stream->capture = std::make_shared<Capture>(Capture{graph, stream, ++next, true, given});
  stream->last.assign(dependencies.begin(), dependencies.end());
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  session.captures.push_back(stream->capture);
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  auto* const graph = new CUgraph_st(); // the program's, from cudaStreamEndCapture on
  const cudaError_t error = begin(stream, graph, {}, false);
  if (error != cudaSuccess)
    delete graph;
  return error;
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* /*data*/, std::size_t count,
                                          cudaStreamCaptureMode /*mode*/) {
  return begin(stream, graph, {dependencies, count}, true);
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  if (!is_stream(handle))
    return kernevo::cuda::set_error(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = stream_of(handle);
  // Who gave the graph knows it.
  const bool given = stream->capturing() && stream->capture->graph_given;
  if (graph == nullptr && !given)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  if (!stream->capturing())
    return kernevo::cuda::set_error(cudaErrorIllegalState);
  if (stream->capture->origin != stream)
    return kernevo::cuda::set_error(cudaErrorStreamCaptureUnmatched);
  stream->capture->open = false;
  const bool whole = CUgraph_st::has(stream->capture->graph);
  if (graph != nullptr)
    *graph = whole ? stream->capture->graph : nullptr;
  stream->capture.reset();
  stream->last.clear();
  return whole ? cudaSuccess : kernevo::cuda::set_error(cudaErrorStreamCaptureInvalidated);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return capture_status(handle, status);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  if (const cudaError_t error = capture_status(handle, status); error != cudaSuccess)
    return error;
  if (*status != cudaStreamCaptureStatusActive)
    return cudaSuccess;
  const CUstream_st* const stream = stream_of(handle);
  if (id != nullptr)
    *id = stream->capture->id;
  if (graph != nullptr)
    *graph = stream->capture->graph;
  if (dependencies != nullptr)
    *dependencies = stream->last.data();
  // All edges are plain ones; who asks for their data reads as many as there are nodes.
  if (edges != nullptr) {
    static thread_local std::vector<cudaGraphEdgeData> plain;
    plain.assign(std::max<std::size_t>(1, stream->last.size()), cudaGraphEdgeData{});
    *edges = plain.data();
  }
  if (count != nullptr)
    *count = stream->last.size();
  return cudaSuccess;
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* /*data*/,
                                                std::size_t count, unsigned flags) {
  if (!is_stream(handle))
    return kernevo::cuda::set_error(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = stream_of(handle);
  if (!stream->capturing())
    return kernevo::cuda::set_error(cudaErrorIllegalState);
  if (!CUgraph_st::has(stream->capture->graph) ||
      !stream->capture->graph->owns({dependencies, count}))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  if (flags == cudaStreamSetCaptureDependencies)
    stream->last.clear();
  stream->last.insert(stream->last.end(), dependencies, dependencies + count);
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  std::swap(current, *mode);
  return cudaSuccess;
}

} // extern "C"
