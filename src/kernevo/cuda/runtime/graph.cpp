// Graphs: making, copying and launching one.
#include "kernevo/cuda/core/graph.h"

#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

using kernevo::cuda::Session;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned /*flags*/) {
  if (graph == nullptr)
    return Session::get().set_error(cudaErrorInvalidValue);
  *graph = new CUgraph_st();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!CUgraph_st::has(graph) || graph->is_child)
    return Session::get().set_error(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph) {
  if (copy == nullptr || !CUgraph_st::has(graph))
    return Session::get().set_error(cudaErrorInvalidValue);
  *copy = graph->clone().release();
  return cudaSuccess;
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t copy) {
  if (!CUgraph_st::has(copy))
    return Session::get().set_error(cudaErrorInvalidValue);
  const auto found = copy->clone_of.find(original);
  if (found == copy->clone_of.end())
    return Session::get().set_error(cudaErrorInvalidValue);
  *node = found->second;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  if (executable == nullptr || !CUgraph_st::has(graph))
    return Session::get().set_error(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraphExec_st>();
  made->graph = graph->clone();
  made->order = made->graph->order();
  made->flags = flags;
  if (made->order.size() != made->graph->nodes.size())
    return Session::get().set_error(cudaErrorInvalidValue); // a circle
  *executable = made.release();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  const cudaError_t error = cudaGraphInstantiate(executable, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out =
      error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return error;
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  if (!CUgraphExec_st::has(executable))
    return Session::get().set_error(cudaErrorInvalidValue);
  *flags = executable->flags;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  if (!CUgraphExec_st::has(executable))
    return Session::get().set_error(cudaErrorInvalidValue);
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  if (!CUgraphExec_st::has(executable) || !CUgraph_st::has(graph))
    return Session::get().set_error(cudaErrorInvalidValue);
  const auto& old = executable->graph->nodes;
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  if (old.size() != graph->nodes.size())
    result = cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; result == cudaGraphExecUpdateSuccess && i < old.size(); ++i)
    if (old[i]->type != graph->nodes[i]->type)
      result = cudaGraphExecUpdateErrorNodeTypeChanged;
    else if (old[i]->needs.size() != graph->nodes[i]->needs.size())
      result = cudaGraphExecUpdateErrorTopologyChanged;
  if (info != nullptr) {
    *info = {};
    info->result = result;
  }
  if (result != cudaGraphExecUpdateSuccess)
    return Session::get().set_error(cudaErrorGraphExecUpdateFailure);
  // The nodes that the executable was made of stay valid names of its nodes.
  std::map<const CUgraphNode_st*, std::size_t> before;
  for (std::size_t i = 0; i < old.size(); ++i)
    for (const auto& [original, copy] : executable->graph->clone_of)
      if (copy == old[i].get())
        before[original] = i;
  executable->graph = graph->clone();
  for (const auto& [original, index] : before)
    executable->graph->clone_of[original] = executable->graph->nodes[index].get();
  executable->order = executable->graph->order();
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (!CUgraphExec_st::has(executable))
    return Session::get().set_error(cudaErrorInvalidValue);
  return Session::get().submit(
      stream,
      [executable] {
        if (!CUgraphExec_st::has(executable)) // destroyed since the launch was captured
          return cudaErrorInvalidValue;
        for (const CUgraphNode_st* node : executable->order)
          if (node->enabled && node->work)
            if (const cudaError_t error = node->work(); error != cudaSuccess)
              return error;
        return cudaSuccess;
      },
      cudaGraphNodeTypeGraph);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t /*executable*/, cudaStream_t /*stream*/) {
  return cudaSuccess;
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned /*flags*/) {
  if (!CUgraph_st::has(graph))
    return Session::get().set_error(cudaErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr)
    return Session::get().set_error(cudaErrorOperatingSystem);
  std::fputs("digraph graph_1 {\n", file);
  for (const auto& node : graph->nodes) {
    std::fprintf(file, "  n%p [label=\"type %d\"];\n", static_cast<const void*>(node.get()),
                 static_cast<int>(node->type));
    for (const CUgraphNode_st* need : node->needs)
      std::fprintf(file, "  n%p -> n%p;\n", static_cast<const void*>(need),
                   static_cast<const void*>(node.get()));
  }
  std::fputs("}\n", file);
  std::fclose(file);
  return cudaSuccess;
}

} // extern "C"
