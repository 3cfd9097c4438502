// Functions that toolkit 13 changed, as they were in toolkit 12.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

extern "C" {
cudaError_t toolkit12_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, std::size_t count);
cudaError_t toolkit12_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to, std::size_t count);
cudaError_t toolkit12_cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* needs, std::size_t count,
                                       cudaGraphNodeParams* parameters);
cudaError_t toolkit12_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                        cudaGraphNode_t* to, std::size_t* count);
cudaError_t toolkit12_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* needs,
                                                   std::size_t* count);
cudaError_t toolkit12_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                     std::size_t* count);
cudaError_t toolkit12_cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                                    int device);
cudaError_t toolkit12_cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                           cudaStream_t stream);
cudaError_t toolkit12_cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* id);
cudaError_t toolkit12_cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                                  cudaStreamCaptureStatus* status,
                                                  unsigned long long* id, cudaGraph_t* graph,
                                                  const cudaGraphNode_t** needs,
                                                  std::size_t* count);
cudaError_t toolkit12_cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                          cudaGraphNode_t* needs, std::size_t count,
                                                          unsigned flags);
}
