#include "kernevo/cudart/runtime/graph_node_work.h"

#include "kernevo/cudart/core/session.h"

#include <cstring>
#include <vector>

namespace kernevo::cudart {
namespace {

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

} // namespace

cudaError_t refuse_graph_call() {
  return Session::get().set_error(cudaErrorInvalidValue);
}

bool set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams& parameters) {
  auto kernel = make_kernel_work(parameters);
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

} // namespace kernevo::cudart
