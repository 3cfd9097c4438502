// Making nodes by hand, and changing them.
#include "kernevo/cuda/core/conditional.h"
#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/memory.h"
#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <cstring>

using kernevo::cuda::KernelWork;
using kernevo::cuda::Session;
using kernevo::cuda::Work;

namespace {

cudaError_t refuse() {
  return kernevo::cuda::set_error(cudaErrorInvalidValue);
}

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                std::size_t count, cudaGraphNodeType type) {
  if (node == nullptr || !CUgraph_st::has(graph) || (needs == nullptr && count != 0) ||
      !graph->owns({needs, count}))
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
  auto kernel = kernevo::cuda::make_kernel_work(parameters);
  if (kernel == nullptr)
    return false;
  node.kernel = kernel;
  node.work = [launch = kernel->launch] { return Session::get().run(*launch); };
  return true;
}

void set_copy(CUgraphNode_st& node, const cudaMemcpy3DParms& parameters) {
  node.copy = parameters;
  node.work = [parameters] { return kernevo::cuda::copy_box(parameters); };
}

void set_copy(CUgraphNode_st& node, void* to, const void* from, std::size_t bytes,
              cudaMemcpyKind kind) {
  node.copy = {};
  node.copy.srcPtr = {const_cast<void*>(from), bytes, bytes, 1}; // NOLINT
  node.copy.dstPtr = {to, bytes, bytes, 1};
  node.copy.extent = {bytes, 1, 1};
  node.copy.kind = kind;
  node.work = [=] { return kernevo::cuda::copy_bytes(to, from, bytes, kind); };
}

void set_fill(CUgraphNode_st& node, const cudaMemsetParams& parameters) {
  node.fill = parameters;
  node.work = [p = parameters] {
    return kernevo::cuda::fill_rows({kernevo::cuda::bytes_of(p.dst), p.pitch}, p.value,
                                    p.elementSize, p.width, p.height);
  };
}

bool set_host(CUgraphNode_st& node, const cudaHostNodeParams& parameters) {
  if (parameters.fn == nullptr)
    return false;
  node.host = parameters;
  node.work = [parameters] {
    parameters.fn(parameters.userData);
    return cudaSuccess;
  };
  return true;
}

bool set_child(CUgraphNode_st& node, const CUgraph_st* graph) {
  if (!CUgraph_st::has(graph))
    return false;
  node.child = graph->clone();
  node.child->is_child = true;
  node.work = [child = node.child] { return child->run(); };
  return true;
}

bool set_event(CUgraphNode_st& node, cudaEvent_t event) {
  if (!CUevent_st::has(event))
    return false;
  node.event = event;
  if (node.type == cudaGraphNodeTypeEventRecord)
    node.work = [event] {
      const std::lock_guard lock(Session::get().mutex);
      if (CUevent_st::has(event) && event->reached != nullptr)
        event->reached->at = std::chrono::steady_clock::now();
      if (kernevo::cuda::TimedWork* const timed = kernevo::cuda::TimedWork::current();
          timed != nullptr && CUevent_st::has(event) && event->time != nullptr)
        timed->add_event(event->time);
      return cudaSuccess;
    };
  return true;
}

// The executable's copy of the node; null when there is none, or no such executable.
CUgraphNode_st* node_of(cudaGraphExec_t executable, cudaGraphNode_t original) {
  return CUgraphExec_st::has(executable) ? executable->node(original) : nullptr;
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

// The graphs to fill are given back.
bool set_conditional(CUgraphNode_st& node, cudaConditionalNodeParams& parameters) {
  if (node.conditional != nullptr)
    return false; // it cannot be made another one
  node.conditional = kernevo::cuda::make_conditional(*node.graph, parameters);
  return node.conditional != nullptr;
}

// False when the parameters are not right or the kind of node cannot be set so.
bool set_any(CUgraphNode_st& node, cudaGraphNodeParams& p) {
  switch (p.type) {
  case cudaGraphNodeTypeKernel: return set_kernel(node, plain(p.kernel));
  case cudaGraphNodeTypeMemcpy: set_copy(node, p.memcpy.copyParams); return true;
  case cudaGraphNodeTypeMemset: set_fill(node, plain(p.memset)); return true;
  case cudaGraphNodeTypeHost: return set_host(node, {p.host.fn, p.host.userData});
  case cudaGraphNodeTypeGraph: return set_child(node, p.graph.graph);
  case cudaGraphNodeTypeEventRecord: return set_event(node, p.eventRecord.event);
  case cudaGraphNodeTypeWaitEvent: return set_event(node, p.eventWait.event);
  case cudaGraphNodeTypeEmpty: return true;
  case cudaGraphNodeTypeConditional: return set_conditional(node, p.conditional);
  default: return false;
  }
}

} // namespace

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* needs, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeKernel) != cudaSuccess)
    return cudaErrorInvalidValue;
  return parameters != nullptr && set_kernel(**node, *parameters) ? cudaSuccess : give_up(graph);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* needs, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemcpy) != cudaSuccess)
    return cudaErrorInvalidValue;
  if (parameters == nullptr)
    return give_up(graph);
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
  if (parameters == nullptr)
    return give_up(graph);
  set_fill(**node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* needs, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeHost) != cudaSuccess)
    return cudaErrorInvalidValue;
  return parameters != nullptr && set_host(**node, *parameters) ? cudaSuccess : give_up(graph);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* needs, std::size_t count,
                                       cudaGraph_t child) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeGraph) != cudaSuccess)
    return cudaErrorInvalidValue;
  return set_child(**node, child) ? cudaSuccess : give_up(graph);
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  if (!CUgraphNode_st::has(node))
    return refuse();
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
  return set_event(**node, event) ? cudaSuccess : give_up(graph);
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* needs, std::size_t count,
                                      cudaEvent_t event) {
  if (add(node, graph, needs, count, cudaGraphNodeTypeWaitEvent) != cudaSuccess)
    return cudaErrorInvalidValue;
  return set_event(**node, event) ? cudaSuccess : give_up(graph);
}
// The address must be known now, so the memory is taken now; it stays for the next launch when it
// is freed, in the graph or outside, and goes with the process.
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* needs, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr || parameters->bytesize == 0)
    return refuse();
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemAlloc) != cudaSuccess)
    return cudaErrorInvalidValue;
  if (const cudaError_t error = cudaMalloc(&parameters->dptr, parameters->bytesize);
      error != cudaSuccess) {
    graph->nodes.pop_back();
    return error;
  }
  (*node)->allocation = *parameters;
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  session.graph_memory.insert(kernevo::cuda::address_of(parameters->dptr));
  return cudaSuccess;
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  *parameters = node->allocation;
  return cudaSuccess;
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* needs, std::size_t count,
                                    void* pointer) {
  if (Session::get().machine().bytes(kernevo::cuda::address_of(pointer)).empty())
    return refuse();
  if (add(node, graph, needs, count, cudaGraphNodeTypeMemFree) != cudaSuccess)
    return cudaErrorInvalidValue;
  (*node)->freed = pointer;
  return cudaSuccess;
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  if (!CUgraphNode_st::has(node) || pointer == nullptr)
    return refuse();
  *static_cast<void**>(pointer) = node->freed;
  return cudaSuccess;
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                             const cudaGraphEdgeData* /*data*/, std::size_t count,
                             cudaGraphNodeParams* parameters) {
  if (parameters == nullptr)
    return refuse();
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
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  return node->type == parameters->type && set_any(*node, *parameters) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                       cudaGraphNodeParams* parameters) {
  CUgraphNode_st* const node = node_of(executable, original);
  return node == nullptr ? refuse() : cudaGraphNodeSetParams(node, parameters);
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  if (node->kernel == nullptr)
    return refuse();
  *parameters = node->kernel->parameters;
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  return set_kernel(*node, *parameters) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                             const cudaKernelNodeParams* parameters) {
  CUgraphNode_st* const node = node_of(executable, original);
  return node != nullptr && parameters != nullptr && set_kernel(*node, *parameters) ? cudaSuccess
                                                                                    : refuse();
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  *parameters = node->copy;
  return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  set_copy(*node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  set_copy(*node, to, from, bytes, kind);
  return cudaSuccess;
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                             const cudaMemcpy3DParms* parameters) {
  CUgraphNode_st* const node = node_of(executable, original);
  return node == nullptr ? refuse() : cudaGraphMemcpyNodeSetParams(node, parameters);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t original,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  CUgraphNode_st* const node = node_of(executable, original);
  return node == nullptr ? refuse() : cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  *parameters = node->fill;
  return cudaSuccess;
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  set_fill(*node, *parameters);
  return cudaSuccess;
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                             const cudaMemsetParams* parameters) {
  CUgraphNode_st* const node = node_of(executable, original);
  return node == nullptr ? refuse() : cudaGraphMemsetNodeSetParams(node, parameters);
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  *parameters = node->host;
  return cudaSuccess;
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  if (!CUgraphNode_st::has(node) || parameters == nullptr)
    return refuse();
  return set_host(*node, *parameters) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t original,
                                           const cudaHostNodeParams* parameters) {
  CUgraphNode_st* const node = node_of(executable, original);
  return node == nullptr ? refuse() : cudaGraphHostNodeSetParams(node, parameters);
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable,
                                                 cudaGraphNode_t original, cudaGraph_t child) {
  CUgraphNode_st* const node = node_of(executable, original);
  return node != nullptr && set_child(*node, child) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  *event = node->event;
  return cudaSuccess;
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  return set_event(*node, event) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  *event = node->event;
  return cudaSuccess;
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  return set_event(*node, event) ? cudaSuccess : refuse();
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t original,
                                    unsigned enabled) {
  CUgraphNode_st* const node = node_of(executable, original);
  if (node == nullptr)
    return refuse();
  node->enabled = enabled != 0;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t original,
                                    unsigned* enabled) {
  const CUgraphNode_st* const node = node_of(executable, original);
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

} // extern "C"
