#include "kernevo/sass/flow.h"

#include <algorithm>
#include <map>
#include <set>

namespace kernevo::sass {

namespace {

constexpr int kAlwaysTrue = 7;

bool is_indirect(const SassInstruction& i) {
  return i.opcode == "BRX" || i.opcode == "BRXU" || i.opcode == "JMX" || i.opcode == "JMXU";
}

bool ends_block(const SassInstruction& i) {
  return i.opcode == "BRA" || i.opcode == "JMP" || i.opcode == "EXIT" || i.opcode == "RET" ||
         i.opcode == "CALL" || i.opcode == "BSYNC" || i.opcode == "KILL" || is_indirect(i);
}

bool names_predicate(const std::string& operand) {
  const std::size_t at = operand.starts_with('!') ? 1 : 0;
  const std::size_t letter = operand.compare(at, 1, "U") == 0 ? at + 1 : at;
  return operand.size() == letter + 2 && operand[letter] == 'P' && operand[letter + 1] != 'T';
}

bool is_guarded(const SassInstruction& i) {
  return i.guard && i.guard->index != kAlwaysTrue;
}

// May control pass by this branch? By its guard, a predicate operand (BRA !P6, ...), or a test of
// the warp's convergence.
bool is_conditional(const SassInstruction& i) {
  return is_guarded(i) || i.has("DIV") || i.has("CONV") || i.has("ANY") || i.has("ALL") ||
         std::any_of(i.operands.begin(), i.operands.end(), names_predicate);
}

class FlowFinder {
public:
  explicit FlowFinder(const SassFunction& function) : function_(function) {}

  Flow find() {
    cut();
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b)
      connect(b);
    mark_reachable();
    return std::move(flow_);
  }

private:
  void cut() {
    const auto& code = function_.instructions;
    std::set<std::uint32_t> leaders;
    for (const SassSymbol& symbol : function_.symbols)
      symbols_.insert(symbol.offset);
    leaders.insert(symbols_.begin(), symbols_.end());
    for (std::size_t k = 0; k < code.size(); ++k) {
      if (code[k].target)
        leaders.insert(*code[k].target);
      leaders.insert(code[k].indirect_targets.begin(), code[k].indirect_targets.end());
      if (ends_block(code[k]) && k + 1 < code.size())
        leaders.insert(code[k + 1].offset);
    }
    for (std::size_t k = 0; k < code.size(); ++k) {
      if (k == 0 || leaders.contains(code[k].offset)) {
        flow_.blocks.push_back({});
        flow_.blocks.back().first = k;
        block_at_[code[k].offset] = flow_.blocks.size() - 1;
      }
      flow_.blocks.back().last = k + 1;
      flow_.block_of.push_back(flow_.blocks.size() - 1);
    }
    if (!flow_.blocks.empty())
      flow_.blocks.front().is_entry = true;
  }

  void add_edge(std::size_t from, std::size_t to, EdgeKind kind) {
    // A BRX may name one place several times.
    for (const std::size_t e : flow_.blocks[from].out)
      if (flow_.edges[e].to == to)
        return;
    flow_.edges.push_back({from, to, kind});
    flow_.blocks[from].out.push_back(flow_.edges.size() - 1);
    flow_.blocks[to].in.push_back(flow_.edges.size() - 1);
  }

  void add_edge_to_offset(std::size_t from, std::uint32_t offset, EdgeKind kind) {
    if (const auto found = block_at_.find(offset); found != block_at_.end())
      add_edge(from, found->second, kind);
    else
      flow_.complete = false;
  }

  void fall_through(std::size_t b) {
    if (b + 1 < flow_.blocks.size())
      add_edge(b, b + 1, EdgeKind::next);
  }

  void connect(std::size_t b) {
    const std::size_t end = flow_.blocks[b].last - 1;
    const SassInstruction& i = function_.instructions[end];
    if (i.opcode == "EXIT" || i.opcode == "RET" || i.opcode == "KILL") {
      flow_.blocks[b].may_leave = true;
      if (is_guarded(i))
        fall_through(b);
    } else if (i.opcode == "BRA" || i.opcode == "JMP") {
      const bool guards_divergence = i.has("DIV") || i.has("CONV");
      if (i.target)
        add_edge_to_offset(b, *i.target,
                           guards_divergence ? EdgeKind::divergence : EdgeKind::taken);
      if (is_conditional(i))
        fall_through(b);
    } else if (i.opcode == "CALL") {
      connect_call(b, i);
    } else if (i.opcode == "BSYNC") {
      connect_sync(b, end);
    } else if (is_indirect(i)) {
      for (const std::uint32_t target : i.indirect_targets)
        add_edge_to_offset(b, target, EdgeKind::indirect);
      flow_.complete = flow_.complete && !i.indirect_targets.empty();
      if (is_guarded(i))
        fall_through(b);
    } else {
      fall_through(b);
    }
  }

  // A CALL to a label that is no function is a far jump; it does not come back.
  void connect_call(std::size_t b, const SassInstruction& i) {
    if (i.target && !symbols_.contains(*i.target)) {
      add_edge_to_offset(b, *i.target, EdgeKind::taken);
      if (is_guarded(i))
        fall_through(b);
      return;
    }
    if (i.target) {
      const std::size_t callee = block_at_.at(*i.target);
      flow_.blocks[b].call = callee;
      flow_.blocks[callee].is_entry = true;
    }
    fall_through(b);
  }

  // Lanes go on where the BSSY of the same barrier says. Regions nest in the text, so it is the
  // nearest one before that reaches beyond this place.
  void connect_sync(std::size_t b, std::size_t at) {
    const SassInstruction& sync = function_.instructions[at];
    const std::uint32_t next =
        at + 1 < function_.instructions.size() ? function_.instructions[at + 1].offset : 0;
    std::optional<std::uint32_t> join;
    for (std::size_t k = at; k-- > 0 && !sync.operands.empty();) {
      const SassInstruction& i = function_.instructions[k];
      if (i.opcode == "BSSY" && i.target && !i.operands.empty() &&
          i.operands[0] == sync.operands[0] && *i.target > sync.offset) {
        join = i.target;
        break;
      }
    }
    if (!join || *join == next)
      fall_through(b);
    else
      add_edge_to_offset(b, *join, EdgeKind::sync);
    if (is_guarded(sync))
      fall_through(b);
  }

  void mark_reachable() {
    std::vector<std::size_t> work;
    const auto reach = [&](std::size_t b) {
      if (!flow_.blocks[b].reachable) {
        flow_.blocks[b].reachable = true;
        work.push_back(b);
      }
    };
    if (!flow_.blocks.empty())
      reach(0);
    while (!work.empty()) {
      const std::size_t b = work.back();
      work.pop_back();
      for (const std::size_t e : flow_.blocks[b].out)
        reach(flow_.edges[e].to);
      if (flow_.blocks[b].call)
        reach(*flow_.blocks[b].call);
    }
    // Where branches cannot be followed, only the padding behind the code is surely dead.
    if (!flow_.complete)
      for (BasicBlock& block : flow_.blocks)
        block.reachable = true;
  }

  const SassFunction& function_;
  Flow flow_;
  std::set<std::uint32_t> symbols_;
  std::map<std::uint32_t, std::size_t> block_at_;
};

} // namespace

Flow find_flow(const SassFunction& function) {
  return FlowFinder(function).find();
}

} // namespace kernevo::sass
