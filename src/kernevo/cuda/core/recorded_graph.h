// The nodes of a graph that is launched while a recording is under way: what need not wait for each
// other there is written as work of several streams, so that the trace says what is ordered.
#pragma once

#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/recording.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kernevo::cuda {

class RecordedGraph {
public:
  explicit RecordedGraph(const std::vector<NodeWork>& all);
  ~RecordedGraph();
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;

  // Around the work of a node, in the order of the list.
  void begin(std::size_t node);
  void end(std::size_t node);

private:
  struct Chain {
    std::uint64_t stream = 0;
    std::size_t last = 0; // node
  };
  std::size_t choose(std::size_t node);

  const std::vector<NodeWork>& all_;
  bool parts_ = false; // somewhere; else all of it is work of the graph's stream
  std::uint64_t outer_ = 0;
  std::uint64_t start_ = 0;
  std::vector<Chain> chains_;
  std::vector<std::size_t> chain_of_;
  std::vector<std::uint64_t> points_;
  std::optional<Recording::Scope> scope_;
};

} // namespace kernevo::cuda
