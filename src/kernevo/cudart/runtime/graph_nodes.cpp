// Making nodes by hand, and changing them.
#include "kernevo/cudart/core/graph.h"
#include "kernevo/cudart/core/session.h"

#include <algorithm>
#include <cstring>

using kernevo::cudart::KernelWork;
using kernevo::cudart::Session;
using kernevo::cudart::Work;

namespace {

cudaError_t refuse() {
  return Session::get().set_error(cudaErrorInvalidValue);
}

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                std::size_t count, cudaGraphNodeType type) {
  if (graph == nullptr || (needs == nullptr && count != 0))
    return refuse();
  *node = graph->add(type, nullptr, {needs, count});
  return cudaSuccess;
}

// Takes back the node just added.
cudaError_t give_up(cudaGraph_t graph) {
  graph->nodes.pop_back();
  return refuse();
}

bool set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams& parameters) {
  auto kernel = kernevo::cudart::make_kernel_work(parameters);
  if (kernel == nullptr)
    return false;
  node.kernel = kernel;
  node.work = [kernel] {
    const cudaKernelNodeParams& p = kernel->parameters;
    return cudaLaunchKernel(p.func, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes,
                            nullptr);
  };
  return true;
}

void set_copy(CUgraphNode_st& node, const cudaMemcpy3DParms& parameters) {
  node.copy = parameters;
  node.work = [parameters] { return cudaMemcpy3D(&parameters); };
}

void set_copy(CUgraphNode_st& node, void* to, const void* from, std::size_t bytes,
              cudaMemcpyKind kind) {
  node.copy = {};
  node.copy.srcPtr = {const_cast<void*>(from), bytes, bytes, 1}; // NOLINT
  node.copy.dstPtr = {to, bytes, bytes, 1};
  node.copy.extent = {bytes, 1, 1};
  node.copy.kind = kind;
  node.work = [=] { return cudaMemcpy(to, from, bytes, kind); };
}

void set_fill(CUgraphNode_st& node, const cudaMemsetParams& parameters) {
  node.fill = parameters;
  node.work = [p = parameters] {
    std::vector<std::byte> row(p.width * p.elementSize);
    for (std::size_t i = 0; i < p.width; ++i)
      std::memcpy(row.data() + i * p.elementSize, &p.value, p.elementSize);
    for (std::size_t y = 0; y < p.height; ++y)
      if (const cudaError_t error = cudaMemcpy(static_cast<std::byte*>(p.dst) + y * p.pitch,
                                               row.data(), row.size(), cudaMemcpyDefault);
          error != cudaSuccess)
        return error;
    return cudaSuccess;
  };
}

void set_host(CUgraphNode_st& node, const cudaHostNodeParams& parameters) {
  node.host = parameters;
  node.work = [parameters] {
    parameters.fn(parameters.userData);
    return cudaSuccess;
  };
}

void set_child(CUgraphNode_st& node, const CUgraph_st& graph) {
  node.child = graph.clone();
  node.work = [child = node.child] { return child->run(); };
}

void set_event(CUgraphNode_st& node, cudaEvent_t event) {
  node.event = event;
  if (node.type == cudaGraphNodeTypeEventRecord)
    node.work = [event] { return cudaEventRecord(event, nullptr); };
}

cudaKernelNodeParams plain(const cudaKernelNodeParamsV2& p) {
  cudaKernelNodeParams made{};
  made.func = p.func;
  made.gridDim = dim3(p.gridDim.x, p.gridDim.y, p.gridDim.z);
  made.blockDim = dim3(p.blockDim.x, p.blockDim.y, p.blockDim.z);
  made.sharedMemBytes = p.sharedMemBytes;
  made.kernelParams = p.kernelParams;
  made.extra = p.extra;
  return made;
}

cudaMemsetParams plain(const cudaMemsetParamsV2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

// False when the parameters are not right or the kind of node cannot be set so.
bool set_any(CUgraphNode_st& node, const cudaGraphNodeParams& p) {
  switch (p.type) {
  case cudaGraphNodeTypeKernel: return set_kernel(node, plain(p.kernel));
  case cudaGraphNodeTypeMemcpy: set_copy(node, p.memcpy.copyParams); return true;
  case cudaGraphNodeTypeMemset: set_fill(node, plain(p.memset)); return true;
  case cudaGraphNodeTypeHost: set_host(node, {p.host.fn, p.host.userData}); return true;
  case cudaGraphNodeTypeGraph: set_child(node, *p.graph.graph); return true;
  case cudaGraphNodeTypeEventRecord: set_event(node, p.eventRecord.event); return true;
  case cudaGraphNodeTypeWaitEvent: set_event(node, p.eventWait.event); return true;
  case cudaGraphNodeTypeEmpty: return true;
  default: return false;
  }
}

cudaError_t fill_list(const std::vector<CUgraphNode_st*>& all, cudaGraphNode_t* list,
                      std::size_t* count) {
  if (list != nullptr) {
    std::fill_n(list, *count, nullptr);
    std::copy_n(all.begin(), std::min(*count, all.size()), list);
    *count = std::min(*count, all.size());
  } else {
    *count = all.size();
  }
  return cudaSuccess;
}

std::vector<CUgraphNode_st*> nodes_of(const CUgraph_st& graph, bool roots_only) {
  std::vector<CUgraphNode_st*> all;
  for (const auto& node : graph.nodes)
    if (!roots_only || node->needs.empty())
      all.push_back(node.get());
  return all;
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
    return refuse();
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

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return node->type == parameters->type && set_any(*node, *parameters) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                       cudaGraphNodeParams* parameters) {
  CUgraphNode_st* const node = executable->node(original);
  return node == nullptr ? refuse() : cudaGraphNodeSetParams(node, parameters);
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  if (node->kernel == nullptr)
    return refuse();
  *parameters = node->kernel->parameters;
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return set_kernel(*node, *parameters) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                             const cudaKernelNodeParams* parameters) {
  CUgraphNode_st* const node = executable->node(original);
  return node != nullptr && set_kernel(*node, *parameters) ? cudaSuccess : refuse();
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
  return node == nullptr ? refuse() : cudaGraphMemcpyNodeSetParams(node, parameters);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t original,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  CUgraphNode_st* const node = executable->node(original);
  return node == nullptr ? refuse() : cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
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
  return node == nullptr ? refuse() : cudaGraphMemsetNodeSetParams(node, parameters);
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
  return node == nullptr ? refuse() : cudaGraphHostNodeSetParams(node, parameters);
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable,
                                                 cudaGraphNode_t original, cudaGraph_t child) {
  CUgraphNode_st* const node = executable->node(original);
  if (node == nullptr || child == nullptr)
    return refuse();
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
    return refuse();
  node->enabled = enabled != 0;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t original,
                                    unsigned* enabled) {
  const CUgraphNode_st* const node = executable->node(original);
  if (node == nullptr)
    return refuse();
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

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetContainingGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  *graph = node->graph;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return fill_list(nodes_of(*graph, false), nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return fill_list(nodes_of(*graph, true), nodes, count);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* /*data*/, std::size_t* count) {
  std::vector<CUgraphNode_st*> starts;
  std::vector<CUgraphNode_st*> ends;
  for (const auto& node : graph->nodes)
    for (CUgraphNode_st* need : node->needs) {
      starts.push_back(need);
      ends.push_back(node.get());
    }
  std::size_t same = *count;
  fill_list(starts, from, &same);
  return fill_list(ends, to, count);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* needs,
                                         cudaGraphEdgeData* /*data*/, std::size_t* count) {
  return fill_list(node->needs, needs, count);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* /*data*/, std::size_t* count) {
  std::vector<CUgraphNode_st*> all;
  for (const auto& other : node->graph->nodes)
    if (std::find(other->needs.begin(), other->needs.end(), node) != other->needs.end())
      all.push_back(other.get());
  return fill_list(all, dependents, count);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t /*graph*/, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* /*data*/,
                                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    to[i]->needs.push_back(from[i]);
  return cudaSuccess;
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t /*graph*/, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* /*data*/, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    std::erase(to[i]->needs, from[i]);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  CUgraph_st& graph = *node->graph;
  for (const auto& other : graph.nodes)
    std::erase(other->needs, node);
  std::erase_if(graph.nodes, [&](const auto& other) { return other.get() == node; });
  return cudaSuccess;
}

} // extern "C"
