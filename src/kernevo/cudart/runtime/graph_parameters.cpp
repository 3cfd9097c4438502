// What nodes do, asked for and changed: in a graph, and in one that is ready to run.
#include "kernevo/cudart/runtime/graph_node_work.h"

using kernevo::cudart::refuse_graph_call;
using kernevo::cudart::set_any;
using kernevo::cudart::set_child;
using kernevo::cudart::set_copy;
using kernevo::cudart::set_event;
using kernevo::cudart::set_fill;
using kernevo::cudart::set_host;
using kernevo::cudart::set_kernel;

extern "C" {

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return node->type == parameters->type && set_any(*node, *parameters) ? cudaSuccess
                                                                       : refuse_graph_call();
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                       cudaGraphNodeParams* parameters) {
  CUgraphNode_st* const node = executable->node(original);
  return node == nullptr ? refuse_graph_call() : cudaGraphNodeSetParams(node, parameters);
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  if (node->kernel == nullptr)
    return refuse_graph_call();
  *parameters = node->kernel->parameters;
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return set_kernel(*node, *parameters) ? cudaSuccess : refuse_graph_call();
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                             const cudaKernelNodeParams* parameters) {
  CUgraphNode_st* const node = executable->node(original);
  return node != nullptr && set_kernel(*node, *parameters) ? cudaSuccess : refuse_graph_call();
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  *parameters = node->copy;
  return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  set_copy(*node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  set_copy(*node, to, from, bytes, kind);
  return cudaSuccess;
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                             const cudaMemcpy3DParms* parameters) {
  CUgraphNode_st* const node = executable->node(original);
  return node == nullptr ? refuse_graph_call() : cudaGraphMemcpyNodeSetParams(node, parameters);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t original,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  CUgraphNode_st* const node = executable->node(original);
  return node == nullptr ? refuse_graph_call()
                         : cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  *parameters = node->fill;
  return cudaSuccess;
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  set_fill(*node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                             const cudaMemsetParams* parameters) {
  CUgraphNode_st* const node = executable->node(original);
  return node == nullptr ? refuse_graph_call() : cudaGraphMemsetNodeSetParams(node, parameters);
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  *parameters = node->host;
  return cudaSuccess;
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  set_host(*node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                           const cudaHostNodeParams* parameters) {
  CUgraphNode_st* const node = executable->node(original);
  return node == nullptr ? refuse_graph_call() : cudaGraphHostNodeSetParams(node, parameters);
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable,
                                                 cudaGraphNode_t original, cudaGraph_t child) {
  CUgraphNode_st* const node = executable->node(original);
  if (node == nullptr || child == nullptr)
    return refuse_graph_call();
  set_child(*node, *child);
  return cudaSuccess;
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  *event = node->event;
  return cudaSuccess;
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  set_event(*node, event);
  return cudaSuccess;
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  *event = node->event;
  return cudaSuccess;
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  set_event(*node, event);
  return cudaSuccess;
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t original,
                                    unsigned enabled) {
  CUgraphNode_st* const node = executable->node(original);
  if (node == nullptr)
    return refuse_graph_call();
  node->enabled = enabled != 0;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t original,
                                    unsigned* enabled) {
  const CUgraphNode_st* const node = executable->node(original);
  if (node == nullptr)
    return refuse_graph_call();
  *enabled = node->enabled ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t /*node*/, cudaLaunchAttributeID /*id*/,
                                            const cudaLaunchAttributeValue* /*value*/) {
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t /*node*/, cudaLaunchAttributeID /*id*/,
                                            cudaLaunchAttributeValue* value) {
  *value = {};
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t /*from*/, cudaGraphNode_t /*to*/) {
  return cudaSuccess;
}

} // extern "C"
