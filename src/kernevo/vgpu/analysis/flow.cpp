#include "kernevo/vgpu/analysis/flow.h"

#include "kernevo/vgpu/program/order.h"

#include <algorithm>

namespace kernevo::vgpu::analysis {
namespace {

bool is_control(OpKind kind) {
  return kind == OpKind::branch || kind == OpKind::indirect_branch || kind == OpKind::ret ||
         kind == OpKind::exit || kind == OpKind::trap;
}

// Where control may go after an instruction, as instructions; the end of the function is none.
struct Ways {
  const Op* control = nullptr; // null: straight on
  std::vector<std::uint32_t> targets;
  bool leaves = false;
};

class FlowFinder {
public:
  explicit FlowFinder(const Code& code)
      : code_(code), count_(static_cast<std::uint32_t>(code.function->instructions.size())) {}

  Flow run() {
    find_ways();
    cut_blocks();
    connect();
    find_postdominators();
    find_loop_headers();
    return std::move(flow_);
  }

private:
  void find_ways() {
    ways_.resize(count_);
    for (std::uint32_t i = 0; i < count_; ++i) {
      Ways& ways = ways_[i];
      for (std::uint32_t at = code_.first_op[i]; at < code_.first_op[i + 1]; ++at)
        if (is_control(code_.ops[at].kind))
          ways.control = &code_.ops[at];
      if (ways.control == nullptr)
        continue;
      const Op& op = *ways.control;
      if (op.kind == OpKind::branch)
        add_target(ways, op.target);
      else if (op.kind == OpKind::indirect_branch)
        for (const std::uint32_t target : static_cast<const BranchTable*>(op.detail)->targets)
          add_target(ways, target);
      else
        ways.leaves = true;
    }
  }

  void add_target(Ways& ways, std::uint32_t op) const {
    // The last op is the return that every function ends with; no instruction stands for it.
    if (op >= code_.first_op[count_])
      ways.leaves = true;
    else
      ways.targets.push_back(code_.ops[op].instruction);
  }

  void cut_blocks() {
    std::vector<bool> leader(count_ + 1, false);
    leader[0] = true;
    for (const auto& [name, at] : code_.function->labels)
      leader[at] = true;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (ways_[i].control != nullptr)
        leader[i + 1] = true;
      for (const std::uint32_t target : ways_[i].targets)
        leader[target] = true;
    }
    flow_.block_of.resize(count_);
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (leader[i])
        flow_.blocks.emplace_back().first = i;
      flow_.blocks.back().last = i + 1;
      flow_.block_of[i] = static_cast<std::uint32_t>(flow_.blocks.size() - 1);
    }
  }

  void connect() {
    const auto blocks = static_cast<std::uint32_t>(flow_.blocks.size());
    leaves_.assign(blocks, false);
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const Ways& ways = ways_[flow_.blocks[b].last - 1];
      leaves_[b] = ways.leaves;
      if (ways.control == nullptr || ways.control->guard != kNone) {
        if (b + 1 < blocks)
          add_edge(b, b + 1);
        else
          leaves_[b] = true;
      }
      for (const std::uint32_t target : ways.targets)
        add_edge(b, flow_.block_of[target]);
    }
  }

  void add_edge(std::uint32_t from, std::uint32_t to) {
    auto& successors = flow_.blocks[from].successors;
    if (std::find(successors.begin(), successors.end(), to) != successors.end())
      return;
    successors.push_back(to);
    flow_.blocks[to].predecessors.push_back(from);
  }

  // Blocks in the order in which a walk against the edges leaves them, from the virtual exit.
  void walk_back(std::uint32_t root, std::vector<bool>& seen,
                 std::vector<std::uint32_t>& finished) {
    struct Visit {
      std::uint32_t block;
      std::size_t next;
    };
    std::vector<Visit> visits{{root, 0}};
    seen[root] = true;
    while (!visits.empty()) {
      auto& [block, next] = visits.back();
      const auto& sources = flow_.blocks[block].predecessors;
      if (next == sources.size()) {
        finished.push_back(block);
        visits.pop_back();
        continue;
      }
      const std::uint32_t source = sources[next++];
      if (!seen[source]) {
        seen[source] = true;
        visits.push_back({source, 0});
      }
    }
  }

  void find_postdominators() {
    const auto blocks = static_cast<std::uint32_t>(flow_.blocks.size());
    const std::uint32_t exit = blocks;
    std::vector<bool> seen(blocks, false);
    std::vector<std::uint32_t> finished;
    for (std::uint32_t b = 0; b < blocks; ++b)
      if (leaves_[b] && !seen[b])
        walk_back(b, seen, finished);
    // An endless loop has no way out; give it one, so that its blocks have a postdominator.
    for (std::uint32_t b = blocks; b-- > 0;) {
      if (seen[b])
        continue;
      leaves_[b] = true;
      walk_back(b, seen, finished);
    }

    std::vector<std::uint32_t> rank(blocks + 1, 0);
    for (std::uint32_t i = 0; i < finished.size(); ++i)
      rank[finished[i]] = i;
    rank[exit] = blocks;
    std::vector<std::uint32_t> nearest(blocks + 1, kNone);
    nearest[exit] = exit;
    auto common = [&](std::uint32_t a, std::uint32_t b) {
      while (a != b) {
        while (rank[a] < rank[b])
          a = nearest[a];
        while (rank[b] < rank[a])
          b = nearest[b];
      }
      return a;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = finished.rbegin(); block != finished.rend(); ++block) {
        std::uint32_t found = leaves_[*block] ? exit : kNone;
        for (const std::uint32_t to : flow_.blocks[*block].successors)
          if (nearest[to] != kNone)
            found = found == kNone ? to : common(found, to);
        changed = changed || nearest[*block] != found;
        nearest[*block] = found;
      }
    }
    flow_.postdominator.resize(blocks);
    for (std::uint32_t b = 0; b < blocks; ++b)
      flow_.postdominator[b] = nearest[b] == exit ? kNone : nearest[b];
  }

  void find_loop_headers() {
    flow_.loop_header.assign(flow_.blocks.size(), false);
    for (const BasicBlock& block : flow_.blocks) {
      const std::uint32_t first = code_.first_op[block.first];
      const std::uint32_t end = code_.first_op[block.last];
      for (const std::uint32_t to : block.successors) {
        const std::uint32_t position = code_.order[code_.first_op[flow_.blocks[to].first]];
        // Instructions without ops share their position with what follows.
        if (first == end ? position < code_.order[first] : position <= code_.order[end - 1])
          flow_.loop_header[to] = true;
      }
    }
  }

  const Code& code_;
  std::uint32_t count_;
  std::vector<Ways> ways_;
  std::vector<bool> leaves_;
  Flow flow_;
};

} // namespace

Flow find_flow(const Code& code) {
  return FlowFinder(code).run();
}

} // namespace kernevo::vgpu::analysis
