// The driver's interface: graphs and capture. Most functions have the runtime's meaning and layout.
#define __CUDA_API_VERSION_INTERNAL // names as they are, no macros that give them versions
#include "kernevo/cuda/core/graph.h"

#include "kernevo/cuda/core/array.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/toolkit_12.h"
#include "kernevo/cuda/driver/driver.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

cudaKernelNodeParams runtime_params(const CUDA_KERNEL_NODE_PARAMS& p) {
  const void* key = p.func != nullptr ? static_cast<const void*>(p.func) : p.kern;
  cudaKernelNodeParams same_params{};
  same_params.func = const_cast<void*>(key); // NOLINT
  same_params.gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ);
  same_params.blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ);
  same_params.sharedMemBytes = p.sharedMemBytes;
  same_params.kernelParams = p.kernelParams;
  same_params.extra = p.extra;
  return same_params;
}

CUDA_KERNEL_NODE_PARAMS_v2 newer(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  CUDA_KERNEL_NODE_PARAMS_v2 made{};
  std::memcpy(&made, &p, sizeof p); // the older is the beginning of the newer
  return made;
}

cudaMemsetParams runtime_params(const CUDA_MEMSET_NODE_PARAMS& p) {
  return {pointer_of(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
}

// An end of a copy: null when the array is not one.
bool end_of_copy(CUmemorytype type, void* host, CUdeviceptr device, CUarray array,
                 std::size_t pitch, std::size_t height, cudaPitchedPtr& pointer, cudaArray_t& into,
                 std::size_t& element) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    into = reinterpret_cast<cudaArray_t>(array); // NOLINT
    if (!cudaArray::has(into))
      return false;
    element = into->image.format.bytes();
    return true;
  }
  void* const start = type == CU_MEMORYTYPE_HOST ? host : pointer_of(device);
  pointer = {start, pitch, pitch, height};
  return true;
}

// Bytes here, elements of an array there.
bool runtime_params(const CUDA_MEMCPY3D& p, cudaMemcpy3DParms& made) {
  made = {};
  std::size_t from = 1;
  std::size_t to = 1;
  if (!end_of_copy(p.srcMemoryType, const_cast<void*>(p.srcHost), p.srcDevice, p.srcArray, // NOLINT
                   p.srcPitch != 0 ? p.srcPitch : p.WidthInBytes,
                   p.srcHeight != 0 ? p.srcHeight : p.Height, made.srcPtr, made.srcArray, from) ||
      !end_of_copy(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray,
                   p.dstPitch != 0 ? p.dstPitch : p.WidthInBytes,
                   p.dstHeight != 0 ? p.dstHeight : p.Height, made.dstPtr, made.dstArray, to))
    return false;
  made.srcPos = {p.srcXInBytes / from, p.srcY, p.srcZ};
  made.dstPos = {p.dstXInBytes / to, p.dstY, p.dstZ};
  made.extent = {p.WidthInBytes / std::max(from, to), p.Height, p.Depth};
  made.kind = cudaMemcpyDefault;
  return true;
}

CUmemorytype kind_of(const cudaPitchedPtr& pointer) {
  return Session::get().machine().bytes(address_of(pointer.ptr)).empty() ? CU_MEMORYTYPE_HOST
                                                                         : CU_MEMORYTYPE_DEVICE;
}

CUDA_MEMCPY3D driver_params(const cudaMemcpy3DParms& p) {
  CUDA_MEMCPY3D made{};
  std::size_t element = 1;
  if (p.srcArray != nullptr) {
    made.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    made.srcArray = reinterpret_cast<CUarray>(p.srcArray); // NOLINT
    element = p.srcArray->image.format.bytes();
  } else {
    made.srcMemoryType = kind_of(p.srcPtr);
    made.srcHost = p.srcPtr.ptr;
    made.srcDevice = address_of(p.srcPtr.ptr);
    made.srcPitch = p.srcPtr.pitch;
    made.srcHeight = p.srcPtr.ysize;
  }
  if (p.dstArray != nullptr) {
    made.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    made.dstArray = reinterpret_cast<CUarray>(p.dstArray); // NOLINT
    element = p.dstArray->image.format.bytes();
  } else {
    made.dstMemoryType = kind_of(p.dstPtr);
    made.dstHost = p.dstPtr.ptr;
    made.dstDevice = address_of(p.dstPtr.ptr);
    made.dstPitch = p.dstPtr.pitch;
    made.dstHeight = p.dstPtr.ysize;
  }
  made.srcXInBytes = p.srcPos.x * (p.srcArray != nullptr ? element : 1);
  made.srcY = p.srcPos.y;
  made.srcZ = p.srcPos.z;
  made.dstXInBytes = p.dstPos.x * (p.dstArray != nullptr ? element : 1);
  made.dstY = p.dstPos.y;
  made.dstZ = p.dstPos.z;
  made.WidthInBytes = p.extent.width * element;
  made.Height = p.extent.height;
  made.Depth = p.extent.depth;
  if (made.Height <= 1 && made.Depth <= 1) // one row has no distance to the next
    made.srcPitch = made.srcHeight = made.dstPitch = made.dstHeight = 0;
  return made;
}

CUDA_MEMSET_NODE_PARAMS plain(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

} // namespace

extern "C" {

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, std::size_t numDependencies,
                                  CUgraph childGraph) {
  return same(cudaGraphAddChildGraphNode, phGraphNode, hGraph, dependencies, numDependencies,
              childGraph);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, std::size_t numDependencies) {
  return same(cudaGraphAddEmptyNode, phGraphNode, hGraph, dependencies, numDependencies);
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, std::size_t numDependencies,
                                   CUevent event) {
  return same(cudaGraphAddEventRecordNode, phGraphNode, hGraph, dependencies, numDependencies,
              event);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, std::size_t numDependencies,
                                 CUevent event) {
  return same(cudaGraphAddEventWaitNode, phGraphNode, hGraph, dependencies, numDependencies, event);
}
CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, std::size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return same(cudaGraphAddHostNode, phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
  return same(cudaGraphChildGraphNodeGetGraph, hNode, phGraph);
}
CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  return same(cudaGraphClone, phGraphClone, originalGraph);
}
CUresult cuGraphCreate(CUgraph* phGraph, unsigned flags) {
  return same(cudaGraphCreate, phGraph, flags);
}
CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned flags) {
  return same(cudaGraphDebugDotPrint, hGraph, path, flags);
}
CUresult cuGraphDestroy(CUgraph hGraph) {
  return same(cudaGraphDestroy, hGraph);
}
CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  return same(cudaGraphDestroyNode, hNode);
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return same(cudaGraphEventRecordNodeGetEvent, hNode, event_out);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return same(cudaGraphEventRecordNodeSetEvent, hNode, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return same(cudaGraphEventWaitNodeGetEvent, hNode, event_out);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return same(cudaGraphEventWaitNodeSetEvent, hNode, event);
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph) {
  return same(cudaGraphExecChildGraphNodeSetParams, hGraphExec, hNode, childGraph);
}
CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  return same(cudaGraphExecDestroy, hGraphExec);
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUevent event) {
  return same(cudaGraphExecEventRecordNodeSetEvent, hGraphExec, hNode, event);
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          CUevent event) {
  return same(cudaGraphExecEventWaitNodeSetEvent, hGraphExec, hNode, event);
}
CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  return same(cudaGraphExecGetFlags, hGraphExec, flags);
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return same(cudaGraphExecHostNodeSetParams, hGraphExec, hNode, nodeParams);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
  return same(cudaGraphHostNodeGetParams, hNode, nodeParams);
}
CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return same(cudaGraphHostNodeSetParams, hNode, nodeParams);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  return same(cudaGraphInstantiateWithParams, phGraphExec, hGraph, instantiateParams);
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  return same(cudaGraphKernelNodeCopyAttributes, dst, src);
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue* value_out) {
  return same(cudaGraphKernelNodeGetAttribute, hNode, attr, value_out);
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue* value) {
  return same(cudaGraphKernelNodeSetAttribute, hNode, attr, value);
}
CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream) {
  return same(cudaGraphLaunch, hGraph, hStream);
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
  return same(cudaGraphMemFreeNodeGetParams, hNode, dptr_out);
}
CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph) {
  return same(cudaGraphNodeFindInClone, phNode, hOriginalNode, hClonedGraph);
}
CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph) {
  return same(cudaGraphNodeGetContainingGraph, hNode, phGraph);
}
CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned* isEnabled) {
  return same(cudaGraphNodeGetEnabled, hGraphExec, hNode, isEnabled);
}
CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  return same(cudaGraphNodeGetType, hNode, type);
}
CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned isEnabled) {
  return same(cudaGraphNodeSetEnabled, hGraphExec, hNode, isEnabled);
}
CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream) {
  return same(cudaGraphUpload, hGraph, hStream);
}
CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, std::size_t* numNodes) {
  return same(cudaGraphGetNodes, hGraph, nodes, numNodes);
}
CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, std::size_t* numRootNodes) {
  return same(cudaGraphGetRootNodes, hGraph, rootNodes, numRootNodes);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) {
  return same(cudaGraphInstantiate, phGraphExec, hGraph, flags);
}
CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo) {
  return same(cudaGraphExecUpdate, hGraphExec, hGraph, resultInfo);
}
CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData, std::size_t numDependencies) {
  return same(cudaGraphAddDependencies, hGraph, from, to, edgeData, numDependencies);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from,
                                      const CUgraphNode* to, const CUgraphEdgeData* edgeData,
                                      std::size_t numDependencies) {
  return same(cudaGraphRemoveDependencies, hGraph, from, to, edgeData, numDependencies);
}
CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edgeData, std::size_t* numEdges) {
  return same(cudaGraphGetEdges, hGraph, from, to, edgeData, numEdges);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                       CUgraphEdgeData* edgeData, std::size_t* numDependencies) {
  return same(cudaGraphNodeGetDependencies, hNode, dependencies, edgeData, numDependencies);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                         CUgraphEdgeData* edgeData,
                                         std::size_t* numDependentNodes) {
  return same(cudaGraphNodeGetDependentNodes, hNode, dependentNodes, edgeData, numDependentNodes);
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                               const CUgraphNode* dependencies, std::size_t numDependencies,
                               CUdeviceptr dptr) {
  return same(cudaGraphAddMemFreeNode, phGraphNode, hGraph, dependencies, numDependencies, dptr);
}
CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                std::size_t numDependencies) {
  return same(toolkit12_cudaGraphAddDependencies, hGraph, from, to, numDependencies);
}
CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t numDependencies) {
  return same(toolkit12_cudaGraphRemoveDependencies, hGraph, from, to, numDependencies);
}
CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                         std::size_t* numEdges) {
  return same(toolkit12_cudaGraphGetEdges, hGraph, from, to, numEdges);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies,
                                    std::size_t* numDependencies) {
  return same(toolkit12_cudaGraphNodeGetDependencies, hNode, dependencies, numDependencies);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                      std::size_t* numDependentNodes) {
  return same(toolkit12_cudaGraphNodeGetDependentNodes, hNode, dependentNodes, numDependentNodes);
}
CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  return same(cudaStreamBeginCapture, hStream, mode);
}
CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData,
                                     std::size_t numDependencies, CUstreamCaptureMode mode) {
  return same(cudaStreamBeginCaptureToGraph, hStream, hGraph, dependencies, dependencyData,
              numDependencies, mode);
}
CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  return same(cudaStreamEndCapture, hStream, phGraph);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out,
                                   std::size_t* numDependencies_out) {
  return same(cudaStreamGetCaptureInfo, hStream, captureStatus_out, id_out, graph_out,
              dependencies_out, edgeData_out, numDependencies_out);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   std::size_t* numDependencies_out) {
  return same(toolkit12_cudaStreamGetCaptureInfo_v2, hStream, captureStatus_out, id_out, graph_out,
              dependencies_out, numDependencies_out);
}
CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                cuuint64_t* id_out) {
  return same(toolkit12_cudaStreamGetCaptureInfo, hStream, captureStatus_out, id_out);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* dependencyData,
                                              std::size_t numDependencies, unsigned flags) {
  return same(cudaStreamUpdateCaptureDependencies, hStream, dependencies, dependencyData,
              numDependencies, flags);
}
CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                           std::size_t numDependencies, unsigned flags) {
  return same(toolkit12_cudaStreamUpdateCaptureDependencies, hStream, dependencies, numDependencies,
              flags);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return same(cudaThreadExchangeStreamCaptureMode, mode);
}
CUresult cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream) {
  return same(cudaStreamCopyAttributes, dstStream, srcStream);
}
CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value) {
  return same(cudaStreamGetAttribute, hStream, attr, value);
}
CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                              const CUstreamAttrValue* param) {
  return same(cudaStreamSetAttribute, hStream, attr, param);
}
CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, std::size_t length,
                                unsigned flags) {
  return same(cudaStreamAttachMemAsync, hStream, dptr, length, flags);
}
CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy,
                            unsigned initialRefcount, unsigned flags) {
  return same(cudaUserObjectCreate, object_out, ptr, destroy, initialRefcount, flags);
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return same(cudaUserObjectRetain, object, count);
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return same(cudaUserObjectRelease, object, count);
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                 unsigned flags) {
  return same(cudaGraphRetainUserObject, graph, object, count, flags);
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return same(cudaGraphReleaseUserObject, graph, object, count);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  KERNEVO_NEED(p);
  const cudaKernelNodeParams made = runtime_params(*p);
  return same(cudaGraphAddKernelNode, node, graph, needs, count, &made);
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  KERNEVO_NEED(p);
  const CUDA_KERNEL_NODE_PARAMS_v2 whole = newer(*p);
  return cuGraphAddKernelNode_v2(node, graph, needs, count, &whole);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* p) {
  KERNEVO_NEED(p);
  cudaKernelNodeParams found{};
  const CUresult result = same(cudaGraphKernelNodeGetParams, node, &found);
  if (result != CUDA_SUCCESS)
    return result;
  *p = {};
  p->func = static_cast<CUfunction>(found.func);
  p->gridDimX = found.gridDim.x;
  p->gridDimY = found.gridDim.y;
  p->gridDimZ = found.gridDim.z;
  p->blockDimX = found.blockDim.x;
  p->blockDimY = found.blockDim.y;
  p->blockDimZ = found.blockDim.z;
  p->sharedMemBytes = found.sharedMemBytes;
  p->kernelParams = found.kernelParams;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  KERNEVO_NEED(p);
  CUDA_KERNEL_NODE_PARAMS_v2 whole{};
  const CUresult result = cuGraphKernelNodeGetParams_v2(node, &whole);
  if (result == CUDA_SUCCESS)
    std::memcpy(p, &whole, sizeof *p);
  return result;
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  KERNEVO_NEED(p);
  const cudaKernelNodeParams made = runtime_params(*p);
  return same(cudaGraphKernelNodeSetParams, node, &made);
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  KERNEVO_NEED(p);
  const CUDA_KERNEL_NODE_PARAMS_v2 whole = newer(*p);
  return cuGraphKernelNodeSetParams_v2(node, &whole);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  KERNEVO_NEED(p);
  const cudaKernelNodeParams made = runtime_params(*p);
  return same(cudaGraphExecKernelNodeSetParams, executable, node, &made);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  KERNEVO_NEED(p);
  const CUDA_KERNEL_NODE_PARAMS_v2 whole = newer(*p);
  return cuGraphExecKernelNodeSetParams_v2(executable, node, &whole);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                              std::size_t count, const CUDA_MEMCPY3D* p, CUcontext /*context*/) {
  KERNEVO_NEED(p);
  cudaMemcpy3DParms made{};
  if (!runtime_params(*p, made))
    return CUDA_ERROR_INVALID_HANDLE;
  return same(cudaGraphAddMemcpyNode, node, graph, needs, count, &made);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* p) {
  KERNEVO_NEED(p);
  cudaMemcpy3DParms found{};
  const CUresult result = same(cudaGraphMemcpyNodeGetParams, node, &found);
  if (result == CUDA_SUCCESS)
    *p = driver_params(found);
  return result;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  KERNEVO_NEED(p);
  cudaMemcpy3DParms made{};
  if (!runtime_params(*p, made))
    return CUDA_ERROR_INVALID_HANDLE;
  return same(cudaGraphMemcpyNodeSetParams, node, &made);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D* p, CUcontext /*context*/) {
  KERNEVO_NEED(p);
  cudaMemcpy3DParms made{};
  if (!runtime_params(*p, made))
    return CUDA_ERROR_INVALID_HANDLE;
  return same(cudaGraphExecMemcpyNodeSetParams, executable, node, &made);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* p,
                              CUcontext /*context*/) {
  KERNEVO_NEED(p);
  const cudaMemsetParams made = runtime_params(*p);
  return same(cudaGraphAddMemsetNode, node, graph, needs, count, &made);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
  KERNEVO_NEED(p);
  cudaMemsetParams found{};
  const CUresult result = same(cudaGraphMemsetNodeGetParams, node, &found);
  if (result == CUDA_SUCCESS)
    *p = {address_of(found.dst), found.pitch, found.value,
          found.elementSize,     found.width, found.height};
  return result;
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) {
  KERNEVO_NEED(p);
  const cudaMemsetParams made = runtime_params(*p);
  return same(cudaGraphMemsetNodeSetParams, node, &made);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* p, CUcontext /*context*/) {
  KERNEVO_NEED(p);
  const cudaMemsetParams made = runtime_params(*p);
  return same(cudaGraphExecMemsetNodeSetParams, executable, node, &made);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  KERNEVO_NEED(p);
  cudaMemAllocNodeParams made{};
  made.bytesize = p->bytesize;
  made.poolProps.location.type = static_cast<cudaMemLocationType>(p->poolProps.location.type);
  made.poolProps.location.id = p->poolProps.location.id;
  made.poolProps.allocType = static_cast<cudaMemAllocationType>(p->poolProps.allocType);
  const CUresult result = same(cudaGraphAddMemAllocNode, node, graph, needs, count, &made);
  p->dptr = address_of(made.dptr);
  return result;
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  KERNEVO_NEED(p);
  cudaMemAllocNodeParams found{};
  const CUresult result = same(cudaGraphMemAllocNodeGetParams, node, &found);
  if (result != CUDA_SUCCESS)
    return result;
  *p = {};
  p->bytesize = found.bytesize;
  p->dptr = address_of(found.dptr);
  p->poolProps.allocType = static_cast<CUmemAllocationType>(found.poolProps.allocType);
  p->poolProps.location.type = static_cast<CUmemLocationType>(found.poolProps.location.type);
  p->poolProps.location.id = found.poolProps.location.id;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                           const CUgraphEdgeData* /*data*/, std::size_t count,
                           CUgraphNodeParams* p) {
  KERNEVO_NEED(p);
  switch (p->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: {
    CUDA_KERNEL_NODE_PARAMS_v2 kernel{};
    std::memcpy(&kernel, &p->kernel, sizeof kernel); // the newer begins with the older
    return cuGraphAddKernelNode_v2(node, graph, needs, count, &kernel);
  }
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return cuGraphAddMemcpyNode(node, graph, needs, count, &p->memcpy.copyParams, nullptr);
  case CU_GRAPH_NODE_TYPE_MEMSET: {
    const CUDA_MEMSET_NODE_PARAMS made = plain(p->memset);
    return cuGraphAddMemsetNode(node, graph, needs, count, &made, nullptr);
  }
  case CU_GRAPH_NODE_TYPE_HOST: {
    const CUDA_HOST_NODE_PARAMS host{p->host.fn, p->host.userData};
    return cuGraphAddHostNode(node, graph, needs, count, &host);
  }
  case CU_GRAPH_NODE_TYPE_GRAPH:
    return cuGraphAddChildGraphNode(node, graph, needs, count, p->graph.graph);
  case CU_GRAPH_NODE_TYPE_EMPTY: return cuGraphAddEmptyNode(node, graph, needs, count);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return cuGraphAddEventRecordNode(node, graph, needs, count, p->eventRecord.event);
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return cuGraphAddEventWaitNode(node, graph, needs, count, p->eventWait.event);
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
    CUDA_MEM_ALLOC_NODE_PARAMS made{};
    made.poolProps = p->alloc.poolProps;
    made.bytesize = p->alloc.bytesize;
    const CUresult result = cuGraphAddMemAllocNode(node, graph, needs, count, &made);
    p->alloc.dptr = made.dptr;
    return result;
  }
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    return cuGraphAddMemFreeNode(node, graph, needs, count, p->free.dptr);
  case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
    cudaGraphNodeParams made{};
    made.type = cudaGraphNodeTypeConditional;
    made.conditional.handle = p->conditional.handle;
    made.conditional.type = as<cudaGraphConditionalNodeType>(p->conditional.type);
    made.conditional.size = p->conditional.size;
    const CUresult result = same(cudaGraphAddNode, node, graph, needs,
                                 static_cast<const cudaGraphEdgeData*>(nullptr), count, &made);
    p->conditional.phGraph_out = made.conditional.phGraph_out;
    return result;
  }
  default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph,
                                        CUcontext /*of*/, unsigned initial, unsigned flags) {
  return same(cudaGraphConditionalHandleCreate, handle, graph, initial, flags);
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                        std::size_t count, CUgraphNodeParams* p) {
  return cuGraphAddNode_v2(node, graph, needs, nullptr, count, p);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  KERNEVO_NEED(p);
  switch (p->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: {
    CUDA_KERNEL_NODE_PARAMS_v2 kernel{};
    std::memcpy(&kernel, &p->kernel, sizeof kernel);
    return cuGraphKernelNodeSetParams_v2(node, &kernel);
  }
  case CU_GRAPH_NODE_TYPE_MEMCPY: return cuGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET: {
    const CUDA_MEMSET_NODE_PARAMS made = plain(p->memset);
    return cuGraphMemsetNodeSetParams(node, &made);
  }
  case CU_GRAPH_NODE_TYPE_HOST: {
    const CUDA_HOST_NODE_PARAMS host{p->host.fn, p->host.userData};
    return cuGraphHostNodeSetParams(node, &host);
  }
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return cuGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphEventWaitNodeSetEvent(node, p->eventWait.event);
  case CU_GRAPH_NODE_TYPE_GRAPH: {
    cudaGraphNodeParams made{};
    made.type = cudaGraphNodeTypeGraph;
    made.graph.graph = p->graph.graph;
    return same(cudaGraphNodeSetParams, node, &made);
  }
  default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}
CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* p) {
  if (!CUgraphExec_st::has(executable))
    return CUDA_ERROR_INVALID_VALUE;
  CUgraphNode_st* const copy = executable->node(node);
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : cuGraphNodeSetParams(copy, p);
}
// Before toolkit 12: where it went wrong comes apart.
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* wrong,
                               char* /*log*/, std::size_t /*bytes*/) {
  if (wrong != nullptr)
    *wrong = nullptr;
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* wrong, char* log,
                            std::size_t bytes) {
  return cuGraphInstantiate_v2(executable, graph, wrong, log, bytes);
}
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* wrong,
                           CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult error = cuGraphExecUpdate_v2(executable, graph, &info);
  if (wrong != nullptr)
    *wrong = info.errorNode;
  if (result != nullptr)
    *result = info.result;
  return error;
}
CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuGraphGetId(CUgraph graph, unsigned* id) {
  KERNEVO_NEED(id);
  if (!CUgraph_st::has(graph))
    return CUDA_ERROR_INVALID_VALUE;
  *id = graph->id;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecGetId(CUgraphExec executable, unsigned* id) {
  KERNEVO_NEED(id);
  if (!CUgraphExec_st::has(executable))
    return CUDA_ERROR_INVALID_VALUE;
  *id = executable->id;
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetLocalId(CUgraphNode node, unsigned* id) {
  KERNEVO_NEED(id);
  if (!CUgraphNode_st::has(node))
    return CUDA_ERROR_INVALID_VALUE;
  *id = node->id;
  return CUDA_SUCCESS;
}
// The graph's number in the upper half.
CUresult cuGraphNodeGetToolsId(CUgraphNode node, unsigned long long* id) {
  KERNEVO_NEED(id);
  if (!CUgraphNode_st::has(node))
    return CUDA_ERROR_INVALID_VALUE;
  *id = (static_cast<unsigned long long>(node->graph->id) << 32U) | node->id;
  return CUDA_SUCCESS;
}

} // extern "C"
