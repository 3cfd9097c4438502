// What a node of a graph does when it runs, from the parameters programs give.
#pragma once

#include "kernevo/cudart/core/graph.h"

#include <cstddef>

namespace kernevo::cudart {

// The error of a graph call whose arguments are not right.
cudaError_t refuse_graph_call();

// False when there is no such kernel.
bool set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams& parameters);
void set_copy(CUgraphNode_st& node, const cudaMemcpy3DParms& parameters);
void set_copy(CUgraphNode_st& node, void* to, const void* from, std::size_t bytes,
              cudaMemcpyKind kind);
void set_fill(CUgraphNode_st& node, const cudaMemsetParams& parameters);
void set_host(CUgraphNode_st& node, const cudaHostNodeParams& parameters);
void set_child(CUgraphNode_st& node, const CUgraph_st& graph);
void set_event(CUgraphNode_st& node, cudaEvent_t event);
// False when the parameters are not right or the kind of node cannot be set so.
bool set_any(CUgraphNode_st& node, const cudaGraphNodeParams& parameters);

} // namespace kernevo::cudart
