#include "kernevo/cuda/core/recorded_graph.h"

namespace kernevo::cuda {
namespace {

// Wider graphs are written as if they were so wide: each stream is a thread where it is replayed.
constexpr std::size_t kMostChains = 8;

bool is_one_chain(const std::vector<NodeWork>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool follows = i == 0;
    for (const std::size_t need : all[i].needs)
      follows = follows || need + 1 == i;
    if (!follows)
      return false;
  }
  return true;
}

} // namespace

RecordedGraph::RecordedGraph(const std::vector<NodeWork>& all) : all_(all) {
  if (!Recording::is_on() || is_one_chain(all))
    return;
  parts_ = true;
  outer_ = Recording::current();
  start_ = Recording::get().record(outer_);
  chain_of_.resize(all.size());
  points_.resize(all.size());
}

// What comes after the graph waits for all of it.
RecordedGraph::~RecordedGraph() {
  for (const Chain& chain : chains_)
    if (points_[chain.last] != 0)
      Recording::get().wait(outer_, points_[chain.last]);
}

std::size_t RecordedGraph::choose(std::size_t node) {
  for (const std::size_t need : all_[node].needs)
    if (chains_[chain_of_[need]].last == need)
      return chain_of_[need];
  if (chains_.size() == kMostChains)
    return node % kMostChains;
  chains_.push_back({Recording::get().own_stream(chains_.size()), node});
  Recording::get().wait(chains_.back().stream, start_);
  return chains_.size() - 1;
}

void RecordedGraph::begin(std::size_t node) {
  if (!parts_)
    return;
  const std::size_t chain = choose(node);
  chain_of_[node] = chain;
  for (const std::size_t need : all_[node].needs)
    if (chain_of_[need] != chain)
      Recording::get().wait(chains_[chain].stream, points_[need]);
  scope_.emplace(chains_[chain].stream);
}

void RecordedGraph::end(std::size_t node) {
  if (!parts_)
    return;
  scope_.reset();
  Chain& chain = chains_[chain_of_[node]];
  chain.last = node;
  points_[node] = Recording::get().record(chain.stream);
}

} // namespace kernevo::cuda
