// The driver's interface: what a node of a graph was made of, whatever its kind.
#define __CUDA_API_VERSION_INTERNAL // names as they are, no macros that give them versions
#include "kernevo/cuda/core/conditional.h"
#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/driver/driver.h"

#include <cstring>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

CUresult give_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v3& p) {
  CUDA_KERNEL_NODE_PARAMS_v2 found{};
  const CUresult result = cuGraphKernelNodeGetParams_v2(node, &found);
  std::memcpy(&p, &found, sizeof found); // the newer begins with the older
  return result;
}

CUresult give_fill(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS_v2& p) {
  CUDA_MEMSET_NODE_PARAMS found{};
  const CUresult result = cuGraphMemsetNodeGetParams(node, &found);
  p = {found.dst,   found.pitch,  found.value,      found.elementSize,
       found.width, found.height, current_context()};
  return result;
}

CUresult give_host(CUgraphNode node, CUDA_HOST_NODE_PARAMS_v2& p) {
  CUDA_HOST_NODE_PARAMS found{};
  const CUresult result = cuGraphHostNodeGetParams(node, &found);
  p.fn = found.fn;
  p.userData = found.userData;
  return result;
}

CUresult give_allocation(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS_v2& p) {
  CUDA_MEM_ALLOC_NODE_PARAMS found{};
  const CUresult result = cuGraphMemAllocNodeGetParams(node, &found);
  p.poolProps = found.poolProps;
  p.bytesize = found.bytesize;
  p.dptr = found.dptr;
  return result;
}

CUresult give_conditional(const CUgraphNode_st& node, CUDA_CONDITIONAL_NODE_PARAMS& p) {
  auto& conditional = *node.conditional;
  p.handle = conditional.on->handle();
  p.type = as<CUgraphConditionalNodeType>(conditional.type);
  p.size = static_cast<unsigned>(conditional.handles.size());
  p.phGraph_out = conditional.handles.data();
  p.ctx = current_context();
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams* p) {
  KERNEVO_NEED(p);
  KERNEVO_READY();
  if (!CUgraphNode_st::has(node))
    return CUDA_ERROR_INVALID_VALUE;
  std::memset(p, 0, sizeof *p); // what a kind leaves unused is zero
  p->type = as<CUgraphNodeType>(node->type);
  switch (node->type) {
  case cudaGraphNodeTypeKernel: return give_kernel(node, p->kernel);
  case cudaGraphNodeTypeMemcpy:
    p->memcpy.copyCtx = current_context();
    return cuGraphMemcpyNodeGetParams(node, &p->memcpy.copyParams);
  case cudaGraphNodeTypeMemset: return give_fill(node, p->memset);
  case cudaGraphNodeTypeHost: return give_host(node, p->host);
  case cudaGraphNodeTypeGraph: return cuGraphChildGraphNodeGetGraph(node, &p->graph.graph);
  case cudaGraphNodeTypeEmpty: return CUDA_SUCCESS;
  case cudaGraphNodeTypeEventRecord:
    return cuGraphEventRecordNodeGetEvent(node, &p->eventRecord.event);
  case cudaGraphNodeTypeWaitEvent: return cuGraphEventWaitNodeGetEvent(node, &p->eventWait.event);
  case cudaGraphNodeTypeMemAlloc: return give_allocation(node, p->alloc);
  case cudaGraphNodeTypeMemFree: return cuGraphMemFreeNodeGetParams(node, &p->free.dptr);
  case cudaGraphNodeTypeConditional: return give_conditional(*node, p->conditional);
  default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

} // extern "C"
