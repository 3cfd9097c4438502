// Graphs: nodes of work with what they wait for. A capture adds the work of streams, a launch does
// all of it in an order the edges allow.
#pragma once

#include "kernevo/cuda/core/live.h"
#include "kernevo/cuda/core/queue.h"
#include "kernevo/cuda/core/stream_clock.h"

#include <cstddef>
#include <cuda_runtime_api.h>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

struct CUctx_st;

namespace kernevo::cuda {

struct PreparedLaunch;
class Condition;    // conditional.h
struct Conditional; // of one node
// Of graphs and executables, from 1 on.
unsigned next_graph_id();

// A kernel launch with copies of its arguments.
struct KernelWork {
  std::shared_ptr<const PreparedLaunch> launch;
  cudaKernelNodeParams parameters{};
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> pointers; // to the values
};
// Null when the kernel is unknown or cannot be loaded.
std::shared_ptr<const KernelWork> make_kernel_work(const cudaKernelNodeParams& parameters);

} // namespace kernevo::cuda

struct CUgraphNode_st : kernevo::cuda::Live<CUgraphNode_st> {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  kernevo::cuda::Work work; // may be empty
  std::vector<CUgraphNode_st*> needs;
  CUgraph_st* graph = nullptr;
  bool enabled = true;
  unsigned id = 0; // in its graph, in the order made
  // As given, for those who ask.
  std::shared_ptr<const kernevo::cuda::KernelWork> kernel;
  cudaMemcpy3DParms copy{};
  cudaMemsetParams fill{};
  cudaHostNodeParams host{};
  cudaMemAllocNodeParams allocation{};
  void* freed = nullptr;
  cudaEvent_t event = nullptr;
  std::shared_ptr<CUgraph_st> child;
  std::shared_ptr<kernevo::cuda::Conditional> conditional;
};

struct CUgraph_st : kernevo::cuda::Live<CUgraph_st> {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::map<const CUgraphNode_st*, CUgraphNode_st*> clone_of; // nodes of the graph this is a copy of
  unsigned id = kernevo::cuda::next_graph_id();
  unsigned whole = id; // the graph it is a body in, or itself
  unsigned nodes_made = 0;
  bool is_child = false;                                             // of a node, which owns it
  std::vector<std::shared_ptr<kernevo::cuda::Condition>> conditions; // made for it
  std::vector<std::pair<const void*, std::shared_ptr<void>>> held;   // the program's own objects

  CUgraphNode_st* add(cudaGraphNodeType type, kernevo::cuda::Work work,
                      std::span<CUgraphNode_st* const> needs);
  // Whether they are nodes of this graph.
  bool owns(std::span<CUgraphNode_st* const> these) const;
  std::unique_ptr<CUgraph_st> clone() const;
  // Every node after those it needs; empty when the edges make a circle (or there are no nodes).
  std::vector<CUgraphNode_st*> order() const;
  cudaError_t run() const;
};

namespace kernevo::cuda {

// The work of these nodes, to be done in this order whatever becomes of the graph.
struct NodeWork {
  Work work;                      // may be empty
  std::vector<std::size_t> needs; // numbers of nodes before it
  bool is_graph = false;
  std::shared_ptr<const Conditional> conditional; // instead of work
};
std::vector<NodeWork> work_of(const std::vector<CUgraphNode_st*>& order);
cudaError_t run_all(const std::vector<NodeWork>& all);

} // namespace kernevo::cuda

struct CUgraphExec_st : kernevo::cuda::Live<CUgraphExec_st> {
  unsigned id = kernevo::cuda::next_graph_id();
  std::shared_ptr<CUgraph_st> graph; // of what is launched, too
  std::vector<CUgraphNode_st*> order;
  unsigned long long flags = 0;

  // This executable's copy of the node, or null.
  CUgraphNode_st* node(cudaGraphNode_t original) const;
};

namespace kernevo::cuda {

// What streams record while they are captured.
struct Capture {
  CUgraph_st* graph = nullptr;
  CUstream_st* origin = nullptr;
  unsigned long long id = 0;
  bool open = true;
  bool graph_given = false; // by the program
};

} // namespace kernevo::cuda

namespace kernevo::cuda {

std::shared_ptr<StreamTime> make_stream_time(QueueKind kind);

} // namespace kernevo::cuda

struct CUstream_st : kernevo::cuda::Live<CUstream_st> {
  explicit CUstream_st(kernevo::cuda::QueueKind kind = kernevo::cuda::QueueKind::blocking)
      : queue(kernevo::cuda::Queue::make(kind)), time(kernevo::cuda::make_stream_time(kind)) {}
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;
  ~CUstream_st() { queue->close(); }

  std::shared_ptr<kernevo::cuda::Queue> queue;
  CUctx_st* context = nullptr; // the driver's
  std::shared_ptr<kernevo::cuda::Capture> capture;
  std::vector<CUgraphNode_st*> last; // what the next captured work waits for
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<kernevo::cuda::StreamTime> time; // virtual; null for the legacy default stream

  bool capturing() const { return capture != nullptr && capture->open; }
};

namespace kernevo::cuda {

// Whether the handle stands for a stream, the default one among them.
bool is_stream(cudaStream_t handle);
// The stream behind such a handle; the legacy default stream and the thread's own are streams, too.
CUstream_st* stream_of(cudaStream_t handle);
// Whether the null stream is the thread's own (see per_thread.h), in this thread, now.
bool& null_stream_is_the_threads();

} // namespace kernevo::cuda
