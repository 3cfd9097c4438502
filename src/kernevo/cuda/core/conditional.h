// What conditional nodes of graphs look at, and what they run: a value in device memory that
// kernels set, and the graphs it chooses from.
#pragma once

#include "kernevo/cuda/core/graph.h"

#include <cstdint>
#include <cuda_runtime_api.h>
#include <memory>
#include <vector>

namespace kernevo::cuda {

class Condition {
public:
  // Null where there is no memory left. `assigned`: it has this value whenever a graph begins.
  static std::shared_ptr<Condition> make(const CUgraph_st& graph, unsigned initial, bool assigned);
  // The one with this handle, or null.
  static std::shared_ptr<Condition> find(cudaGraphConditionalHandle handle);
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition();

  // Its address: where the device function cudaGraphSetConditional writes to.
  cudaGraphConditionalHandle handle() const { return address_; }
  // Whether nodes of this graph may look at it: the one it was made for, and bodies in that.
  bool serves(const CUgraph_st& graph) const { return graph.whole == graph_; }
  unsigned value() const;
  void begin() const;

private:
  Condition(std::uint64_t address, unsigned graph, unsigned initial, bool assigned)
      : address_(address), graph_(graph), initial_(initial), assigned_(assigned) {}
  void set(unsigned value) const;

  std::uint64_t address_;
  unsigned graph_;
  unsigned initial_;
  bool assigned_;
};

// Of one node.
struct Conditional {
  std::shared_ptr<const Condition> on;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::unique_ptr<CUgraph_st>> bodies;
  std::vector<cudaGraph_t> handles; // the same, as the program is given them

  void add_body(std::unique_ptr<CUgraph_st> body);
  // The graph to run now, if any. `first`: the node begins.
  const CUgraph_st* chosen(bool first) const;
};

// For a node of this graph. Null when the parameters are not right.
std::shared_ptr<Conditional> make_conditional(const CUgraph_st& graph,
                                              cudaConditionalNodeParams& parameters);
// Conditions of the graph, of its child graphs and of the bodies of its nodes have their values.
void begin_conditions(const CUgraph_st& graph);

} // namespace kernevo::cuda
