// Graphs: making, copying and launching one.
#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/conditional.h"
#include "kernevo/cuda/core/pricing.h"
#include "kernevo/cuda/core/recording.h"

#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

using kernevo::cuda::QueueKind;
using kernevo::cuda::Session;

// Something of the program's that goes when nobody holds it any more.
struct CUuserObject_st : kernevo::cuda::Live<CUuserObject_st> {
  void* object = nullptr;
  cudaHostFn_t destroy = nullptr;
  std::atomic<unsigned> holders = 0;
};

namespace {

cudaError_t let_go(CUuserObject_st* object, unsigned count) {
  if (object->holders < count || count == 0)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  if ((object->holders -= count) == 0) {
    // In a thread of its own: the program may hold a lock that its function wants.
    static auto* const queue = new auto(kernevo::cuda::Queue::make(QueueKind::independent));
    (*queue)->add([destroy = object->destroy, what = object->object] {
      destroy(what);
      return cudaSuccess;
    });
    delete object;
  }
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t* made, void* object, cudaHostFn_t destroy,
                                 unsigned holders, unsigned flags) {
  if (made == nullptr || destroy == nullptr || holders == 0 ||
      flags != cudaUserObjectNoDestructorSync)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *made = new CUuserObject_st();
  (*made)->object = object;
  (*made)->destroy = destroy;
  (*made)->holders = holders;
  return cudaSuccess;
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  if (!CUuserObject_st::has(object) || count == 0)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  object->holders += count;
  return cudaSuccess;
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return CUuserObject_st::has(object) ? let_go(object, count)
                                      : kernevo::cuda::set_error(cudaErrorInvalidValue);
}
// The graph and its copies hold it together, through one holder that is counted.
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  if (!CUgraph_st::has(graph) || !CUuserObject_st::has(object) || count == 0 ||
      (flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)) != 0)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  if ((flags & cudaGraphUserObjectMove) == 0)
    object->holders += count;
  for (unsigned i = 0; i < count; ++i)
    graph->held.emplace_back(object, std::shared_ptr<void>(object, [](void* held) {
                               let_go(static_cast<CUuserObject_st*>(held), 1);
                             }));
  return cudaSuccess;
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  if (!CUgraph_st::has(graph) || !CUuserObject_st::has(object))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  for (unsigned i = 0; i < count; ++i) {
    const auto found = std::find_if(graph->held.begin(), graph->held.end(),
                                    [&](const auto& one) { return one.first == object; });
    if (found == graph->held.end())
      return kernevo::cuda::set_error(cudaErrorInvalidValue);
    graph->held.erase(found);
  }
  return cudaSuccess;
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned /*flags*/) {
  if (graph == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *graph = new CUgraph_st();
  return cudaSuccess;
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned initial, unsigned flags) {
  if (handle == nullptr || !CUgraph_st::has(graph) ||
      (flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) != 0)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  auto made =
      kernevo::cuda::Condition::make(*graph, initial, (flags & cudaGraphCondAssignDefault) != 0);
  if (made == nullptr)
    return kernevo::cuda::set_error(cudaErrorMemoryAllocation);
  *handle = made->handle();
  graph->conditions.push_back(std::move(made));
  return cudaSuccess;
}
cudaError_t cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle* handle,
                                                cudaGraph_t graph, cudaExecutionContext_t /*of*/,
                                                unsigned initial, unsigned flags) {
  return cudaGraphConditionalHandleCreate(handle, graph, initial, flags);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!CUgraph_st::has(graph) || graph->is_child)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph) {
  if (copy == nullptr || !CUgraph_st::has(graph))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *copy = graph->clone().release();
  return cudaSuccess;
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t copy) {
  if (!CUgraph_st::has(copy))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  const auto found = copy->clone_of.find(original);
  if (found == copy->clone_of.end())
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *node = found->second;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  if (executable == nullptr || !CUgraph_st::has(graph))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraphExec_st>();
  made->graph = graph->clone();
  made->order = made->graph->order();
  made->flags = flags;
  if (made->order.size() != made->graph->nodes.size())
    return kernevo::cuda::set_error(cudaErrorInvalidValue); // a circle
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
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *flags = executable->flags;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  if (!CUgraphExec_st::has(executable))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  if (!CUgraphExec_st::has(executable) || !CUgraph_st::has(graph))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
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
    return kernevo::cuda::set_error(cudaErrorGraphExecUpdateFailure);
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
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
  using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)
  if (!CUgraphExec_st::has(executable))
    return set_error(cudaErrorInvalidValue);
  if (!is_stream(handle))
    return set_error(cudaErrorInvalidResourceHandle);
  Session& session = Session::get();
  CUstream_st& stream = *stream_of(handle);
  // The graph may be gone when it is run, and its conditions with it.
  const auto work = [all = work_of(executable->order), graph = executable->graph] {
    begin_conditions(*graph);
    return run_all(all);
  };
  if (stream.capturing())
    return session.submit(handle, work, cudaGraphNodeTypeGraph);
  const std::lock_guard lock(session.mutex);
  std::vector<Point> needs;
  std::vector<CUevent_st*> records;
  for (const CUgraphNode_st* node : executable->order)
    if (node->enabled && CUevent_st::has(node->event)) {
      if (Recording::is_on())
        Recording::get().refuse("an event that a graph records or waits for");
      if (node->type == cudaGraphNodeTypeWaitEvent) {
        needs.push_back(node->event->point);
        if (pricing().wanted())
          pricing().clock().wait(stream.time, node->event->time);
      } else {
        records.push_back(node->event);
      }
    }
  for (CUevent_st* const event : records) {
    event->reached = std::make_shared<CUevent_st::Reached>();
    if (event->timed)
      pricing().want();
    event->time = pricing().wanted() ? std::make_shared<EventTime>() : nullptr;
  }
  if (!needs.empty())
    stream.queue->add(nullptr, needs);
  const cudaError_t error = session.submit(handle, work, cudaGraphNodeTypeGraph);
  for (CUevent_st* const event : records)
    event->point = stream.queue->last();
  return error;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t /*executable*/, cudaStream_t /*stream*/) {
  return cudaSuccess;
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned /*flags*/) {
  if (!CUgraph_st::has(graph))
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr)
    return kernevo::cuda::set_error(cudaErrorOperatingSystem);
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
