// What a graph is made of: its nodes and the edges between them.
#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/session.h"

#include <algorithm>

using kernevo::cuda::Session;

namespace {

cudaError_t refuse() {
  return kernevo::cuda::set_error(cudaErrorInvalidValue);
}

// Of edges inside the graph.
bool are_ends(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
              std::size_t count) {
  return CUgraph_st::has(graph) &&
         (count == 0 || (from != nullptr && to != nullptr && graph->owns({from, count}) &&
                         graph->owns({to, count})));
}

// Whoever allocates memory in a graph cannot take nodes and edges out of it.
bool is_fixed(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree;
  });
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

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  *type = node->type;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetContainingGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  *graph = node->graph;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (!CUgraph_st::has(graph) || count == nullptr)
    return refuse();
  return fill_list(nodes_of(*graph, false), nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (!CUgraph_st::has(graph) || count == nullptr)
    return refuse();
  return fill_list(nodes_of(*graph, true), nodes, count);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* /*data*/, std::size_t* count) {
  if (!CUgraph_st::has(graph) || count == nullptr)
    return refuse();
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
  if (!CUgraphNode_st::has(node) || count == nullptr)
    return refuse();
  return fill_list(node->needs, needs, count);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* /*data*/, std::size_t* count) {
  if (!CUgraphNode_st::has(node) || count == nullptr)
    return refuse();
  std::vector<CUgraphNode_st*> all;
  for (const auto& other : node->graph->nodes)
    if (std::find(other->needs.begin(), other->needs.end(), node) != other->needs.end())
      all.push_back(other.get());
  return fill_list(all, dependents, count);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* /*data*/,
                                     std::size_t count) {
  if (!are_ends(graph, from, to, count))
    return refuse();
  for (std::size_t i = 0; i < count; ++i)
    if (from[i] == to[i])
      return refuse();
  for (std::size_t i = 0; i < count; ++i)
    to[i]->needs.push_back(from[i]);
  return cudaSuccess;
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* /*data*/, std::size_t count) {
  if (!are_ends(graph, from, to, count))
    return refuse();
  if (is_fixed(*graph))
    return kernevo::cuda::set_error(cudaErrorNotSupported);
  for (std::size_t i = 0; i < count; ++i)
    std::erase(to[i]->needs, from[i]);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  if (!CUgraphNode_st::has(node))
    return refuse();
  CUgraph_st& graph = *node->graph;
  if (is_fixed(graph))
    return kernevo::cuda::set_error(cudaErrorNotSupported);
  for (const auto& other : graph.nodes)
    std::erase(other->needs, node);
  std::erase_if(graph.nodes, [&](const auto& other) { return other.get() == node; });
  return cudaSuccess;
}

} // extern "C"
