#include "kernevo/vgpu/program/order.h"

#include <algorithm>

namespace kernevo::vgpu {
namespace {

// Nesting deeper than this is not written by people; the rest keeps depth-first order.
constexpr int kDeepestNesting = 64;

struct Graph {
  std::vector<std::vector<std::uint32_t>> successors;
};

class Orderer {
public:
  explicit Orderer(const Graph& graph)
      : graph_(graph), region_(graph.successors.size(), 0), cut_(graph.successors.size(), false),
        index_(graph.successors.size(), 0), low_(graph.successors.size(), 0),
        on_stack_(graph.successors.size(), false) {}

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> all(graph_.successors.size());
    for (std::uint32_t i = 0; i < all.size(); ++i)
      all[i] = i;
    order(all, 0);
    return std::move(result_);
  }

private:
  // Orders the nodes (all of one region, entered at the first). Edges into cut nodes do not count.
  void order(const std::vector<std::uint32_t>& nodes, int depth) {
    const std::uint32_t region = ++regions_;
    for (const std::uint32_t node : nodes) {
      region_[node] = region;
      index_[node] = 0;
    }
    std::vector<std::vector<std::uint32_t>> components;
    counter_ = 0;
    for (const std::uint32_t node : nodes)
      if (index_[node] == 0)
        find_components(node, region, components);
    // Tarjan's algorithm finds them in reverse topological order.
    for (auto component = components.rbegin(); component != components.rend(); ++component) {
      if (component->size() == 1 || depth >= kDeepestNesting) {
        result_.insert(result_.end(), component->begin(), component->end());
        continue;
      }
      cut_[component->front()] = true;
      order(*component, depth + 1);
    }
  }

  void find_components(std::uint32_t root, std::uint32_t region,
                       std::vector<std::vector<std::uint32_t>>& components) {
    struct Visit {
      std::uint32_t node;
      std::size_t next;
    };
    std::vector<Visit> visits;
    auto enter = [&](std::uint32_t node) {
      index_[node] = low_[node] = ++counter_;
      stack_.push_back(node);
      on_stack_[node] = true;
      visits.push_back({node, 0});
    };
    enter(root);
    while (!visits.empty()) {
      auto& [node, next] = visits.back();
      const auto& successors = graph_.successors[node];
      if (next < successors.size()) {
        const std::uint32_t to = successors[next++];
        if (region_[to] != region || cut_[to])
          continue;
        if (index_[to] == 0)
          enter(to);
        else if (on_stack_[to])
          low_[node] = std::min(low_[node], index_[to]);
        continue;
      }
      const std::uint32_t done = node;
      visits.pop_back();
      if (!visits.empty())
        low_[visits.back().node] = std::min(low_[visits.back().node], low_[done]);
      if (low_[done] != index_[done])
        continue;
      // The stack holds the component in the order of discovery: its entry comes first.
      const auto first = std::find(stack_.rbegin(), stack_.rend(), done).base() - 1;
      components.emplace_back(first, stack_.end());
      for (auto it = first; it != stack_.end(); ++it)
        on_stack_[*it] = false;
      stack_.erase(first, stack_.end());
    }
  }

  const Graph& graph_;
  std::vector<std::uint32_t> region_;
  std::vector<bool> cut_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> result_;
  std::uint32_t regions_ = 0;
  std::uint32_t counter_ = 0;
};

bool ends_block(const Op& op) {
  return op.kind == OpKind::branch || op.kind == OpKind::indirect_branch ||
         op.kind == OpKind::exit || op.kind == OpKind::ret || op.kind == OpKind::trap;
}

} // namespace

std::vector<std::uint32_t> schedule_order(const std::vector<Op>& ops) {
  const auto count = static_cast<std::uint32_t>(ops.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!ends_block(ops[i]))
      continue;
    leader[i + 1] = true;
    if (ops[i].kind == OpKind::branch)
      leader[ops[i].target] = true;
    if (ops[i].kind == OpKind::indirect_branch)
      for (const std::uint32_t target : static_cast<const BranchTable*>(ops[i].detail)->targets)
        leader[target] = true;
  }
  std::vector<std::uint32_t> block_of(count);
  std::vector<std::uint32_t> starts;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leader[i])
      starts.push_back(i);
    block_of[i] = static_cast<std::uint32_t>(starts.size() - 1);
  }
  starts.push_back(count);

  Graph graph;
  graph.successors.resize(starts.size() - 1);
  for (std::uint32_t block = 0; block + 1 < starts.size(); ++block) {
    const std::uint32_t last = starts[block + 1] - 1;
    const Op& op = ops[last];
    auto& successors = graph.successors[block];
    const bool always = op.guard == kNone;
    if (op.kind == OpKind::branch)
      successors.push_back(block_of[op.target]);
    if (op.kind == OpKind::indirect_branch)
      for (const std::uint32_t target : static_cast<const BranchTable*>(op.detail)->targets)
        successors.push_back(block_of[target]);
    if (!(ends_block(op) && always) && last + 1 < count)
      successors.push_back(block_of[last + 1]);
  }

  std::vector<std::uint32_t> order(count);
  std::uint32_t position = 0;
  for (const std::uint32_t block : Orderer(graph).run())
    for (std::uint32_t i = starts[block]; i < starts[block + 1]; ++i)
      order[i] = position++;
  return order;
}

} // namespace kernevo::vgpu
