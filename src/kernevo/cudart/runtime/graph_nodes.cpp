// Making nodes by hand.
#include "kernevo/cudart/core/session.h"
#include "kernevo/cudart/runtime/graph_node_work.h"

using kernevo::cudart::refuse_graph_call;
using kernevo::cudart::Session;
using kernevo::cudart::set_any;
using kernevo::cudart::set_child;
using kernevo::cudart::set_copy;
using kernevo::cudart::set_event;
using kernevo::cudart::set_fill;
using kernevo::cudart::set_host;
using kernevo::cudart::set_kernel;

namespace {

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                std::size_t count, cudaGraphNodeType type) {
  if (graph == nullptr || (needs == nullptr && count != 0))
    return refuse_graph_call();
  *node = graph->add(type, nullptr, {needs, count});
  return cudaSuccess;
}

// Takes back the node just added.
cudaError_t give_up(cudaGraph_t graph) {
  graph->nodes.pop_back();
  return refuse_graph_call();
}

} // namespace

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* needs, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeKernel) != cudaSuccess)
    return cudaErrorInvalidValue;
  return set_kernel(**node, *parameters) ? cudaSuccess : give_up(graph);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* needs, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemcpy) != cudaSuccess)
    return cudaErrorInvalidValue;
  set_copy(**node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* needs, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemcpy) != cudaSuccess)
    return cudaErrorInvalidValue;
  set_copy(**node, to, from, bytes, kind);
  return cudaSuccess;
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* needs, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  void* to = nullptr;
  if (const cudaError_t error = cudaGetSymbolAddress(&to, symbol); error != cudaSuccess)
    return error;
  return cudaGraphAddMemcpyNode1D(node, graph, needs, count, static_cast<std::byte*>(to) + offset,
                                  from, bytes, kind);
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* needs, std::size_t count,
                                             void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  void* from = nullptr;
  if (const cudaError_t error = cudaGetSymbolAddress(&from, symbol); error != cudaSuccess)
    return error;
  return cudaGraphAddMemcpyNode1D(node, graph, needs, count, to,
                                  static_cast<std::byte*>(from) + offset, bytes, kind);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* needs, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemset) != cudaSuccess)
    return cudaErrorInvalidValue;
  set_fill(**node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* needs, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeHost) != cudaSuccess)
    return cudaErrorInvalidValue;
  set_host(**node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* needs, std::size_t count,
                                       cudaGraph_t child) {
  if (child == nullptr || add(node, graph, needs, count, cudaGraphNodeTypeGraph) != cudaSuccess)
    return refuse_graph_call();
  set_child(**node, *child);
  return cudaSuccess;
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  *graph = node->child.get();
  return cudaSuccess;
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* needs, std::size_t count) {
  return add(node, graph, needs, count, cudaGraphNodeTypeEmpty);
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* needs, std::size_t count,
                                        cudaEvent_t event) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeEventRecord) != cudaSuccess)
    return cudaErrorInvalidValue;
  set_event(**node, event);
  return cudaSuccess;
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* needs, std::size_t count,
                                      cudaEvent_t event) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeWaitEvent) != cudaSuccess)
    return cudaErrorInvalidValue;
  set_event(**node, event);
  return cudaSuccess;
}
// The address must be known now, so the memory is taken now; it stays for the next launch when the
// graph frees it, and goes with the process.
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* needs, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  if (const cudaError_t error = cudaMalloc(&parameters->dptr, parameters->bytesize);
      error != cudaSuccess)
    return error;
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemAlloc) != cudaSuccess)
    return cudaErrorInvalidValue;
  (*node)->allocation = *parameters;
  return cudaSuccess;
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  *parameters = node->allocation;
  return cudaSuccess;
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* needs, std::size_t count,
                                    void* pointer) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemFree) != cudaSuccess)
    return cudaErrorInvalidValue;
  (*node)->freed = pointer;
  return cudaSuccess;
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  *static_cast<void**>(pointer) = node->freed;
  return cudaSuccess;
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                             const cudaGraphEdgeData* /*data*/, std::size_t count,
                             cudaGraphNodeParams* parameters) {
  if (parameters->type == cudaGraphNodeTypeConditional)
    return Session::get().set_error(cudaErrorNotSupported);
  if (parameters->type == cudaGraphNodeTypeMemAlloc) {
    cudaMemAllocNodeParams plain_parameters{};
    plain_parameters.bytesize = parameters->alloc.bytesize;
    const cudaError_t error =
        cudaGraphAddMemAllocNode(node, graph, needs, count, &plain_parameters);
    parameters->alloc.dptr = plain_parameters.dptr;
    return error;
  }
  if (parameters->type == cudaGraphNodeTypeMemFree)
    return cudaGraphAddMemFreeNode(node, graph, needs, count, parameters->free.dptr);
  if (add(node, graph, needs, count, parameters->type) != cudaSuccess)
    return cudaErrorInvalidValue;
  return set_any(**node, *parameters) ? cudaSuccess : give_up(graph);
}

} // extern "C"
