#include "kernevo/sass/join.h"

#include "kernevo/sass/anchors.h"
#include "kernevo/sass/branch_counts.h"
#include "kernevo/sass/flow_solver.h"
#include "kernevo/sass/unrolling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kernevo::sass {

namespace {

constexpr int kAlwaysTrue = 7;
constexpr std::size_t kMaxWorst = 8;
// Counts within this of each other are the same count.
constexpr double kSame = 1e-5;

double trust_weight(Trust trust) {
  switch (trust) {
  case Trust::strong: return 1;
  case Trust::medium: return 0.3;
  case Trust::weak: return 0.05;
  }
  return 0;
}

bool same(double a, double b) {
  return std::abs(a - b) <= kSame * std::max({std::abs(a), std::abs(b), 1.0});
}

class Joiner {
public:
  Joiner(const SassFunction& function, const Flow& flow, const PtxLines& ptx,
         const std::vector<ExecutionCounts>& counts)
      : function_(function), flow_(flow), ptx_(ptx), counts_(counts),
        anchors_(find_anchors(function, flow, ptx)) {
    integral_ = std::all_of(counts.begin(), counts.end(), [](const ExecutionCounts& c) {
      return c.threads == std::floor(c.threads);
    });
  }

  Join run() {
    solve();
    join_.blocks.resize(flow_.blocks.size());
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b)
      join_.blocks[b].threads = join_.blocks[b].threads_on = flow_counts_.blocks[b];
    find_warps();
    join_.edge_threads = flow_counts_.edges;
    count_instructions();
    judge();
    return std::move(join_);
  }

private:
  ExecutionCounts of_line(int line) const {
    return line > 0 && static_cast<std::size_t>(line) < counts_.size()
               ? counts_[static_cast<std::size_t>(line)]
               : ExecutionCounts{};
  }

  // What the copies of an anchor add up to, in threads.
  double expected(const Anchor& anchor) const {
    const ExecutionCounts counts = of_line(anchor.line);
    const std::string& mnemonic = ptx_.lines[static_cast<std::size_t>(anchor.line)].mnemonic;
    const bool every_time = anchor.by_guard || mnemonic.starts_with("bra");
    return every_time ? counts.threads : counts.threads_on;
  }

  double found(const Anchor& anchor) const {
    double sum = 0;
    for (const auto& [block, repeat] : anchor.copies)
      sum += repeat * flow_counts_.blocks[block];
    return sum;
  }

  void solve() {
    std::vector<CountEquation> equations;
    for (const Anchor& anchor : anchors_)
      equations.push_back({anchor.copies, expected(anchor), trust_weight(anchor.trust)});
    std::vector<CountExpectation> expectations = idle_paths();
    const std::vector<CountExpectation> shares = expected_shares(flow_, ptx_, anchors_, counts_);
    expectations.insert(expectations.end(), shares.begin(), shares.end());
    const std::vector<CountExpectation> measured = measured_edges(function_, flow_, ptx_, counts_);
    expectations.insert(expectations.end(), measured.begin(), measured.end());
    flow_counts_ = solve_flow(flow_, equations, expectations);
    for (const CountExpectation& one : expectations)
      if (one.weight == kAssumptionWeight)
        assumed_blocks_.insert(one.edge ? flow_.edges[*one.edge].to : one.block);
    for (std::vector<double>* counts : {&flow_counts_.blocks, &flow_counts_.edges})
      for (double& one : *counts)
        if (const double whole = std::round(one);
            integral_ && std::abs(one - whole) <= std::max(1e-3, kSame * whole))
          one = whole;
  }

  // Paths the compiler made for rare cases: diverged warps, division of denormals.
  std::vector<CountExpectation> idle_paths() const {
    std::vector<CountExpectation> idle;
    for (std::size_t e = 0; e < flow_.edges.size(); ++e)
      if (flow_.edges[e].kind == EdgeKind::divergence)
        idle.push_back({e, 0, 0, kAssumptionWeight});
    for (const SassSymbol& symbol : function_.symbols)
      if (symbol.name.find("slowpath") != std::string::npos)
        for (std::size_t b = 0; b < flow_.blocks.size(); ++b)
          if (function_.instructions[flow_.blocks[b].first].offset == symbol.offset)
            idle.push_back({std::nullopt, b, 0, kAssumptionWeight});
    return idle;
  }

  // A block's warps: its threads by the ratio that its own lines have. Exact where a line has one
  // copy; the mean number of active lanes where it has several.
  void find_warps() {
    std::vector<std::optional<double>> ratio(flow_.blocks.size());
    std::vector<std::map<double, double>> votes(flow_.blocks.size());
    for (const Anchor& anchor : anchors_) {
      const ExecutionCounts line = of_line(anchor.line);
      if (line.threads <= 0 || !same(found(anchor), expected(anchor)))
        continue;
      for (const auto& [block, repeat] : anchor.copies)
        votes[block][line.warps / line.threads] += trust_weight(anchor.trust);
    }
    for (std::size_t k = 0; k < function_.instructions.size(); ++k) {
      const auto& line = function_.instructions[k].ptx_line;
      const std::size_t b = flow_.block_of[k];
      // Lines without an anchor speak where their count is the block's.
      if (line && of_line(*line).threads > 0 &&
          same(of_line(*line).threads, flow_counts_.blocks[b]))
        votes[b][of_line(*line).warps / of_line(*line).threads] += 0.01;
    }
    for (std::size_t b = 0; b < votes.size(); ++b)
      if (!votes[b].empty())
        ratio[b] =
            std::max_element(votes[b].begin(), votes[b].end(), [](const auto& x, const auto& y) {
              return x.second < y.second;
            })->first;
    spread(ratio);
    for (std::size_t b = 0; b < ratio.size(); ++b) {
      ExecutionCounts& block = join_.blocks[b];
      block.warps = ratio[b] ? block.threads * *ratio[b] : block.threads / 32;
      if (integral_ &&
          std::abs(block.warps - std::round(block.warps)) < kSame * std::max(1.0, block.warps))
        block.warps = std::round(block.warps);
    }
  }

  // Blocks without a line of their own: as a neighbour that ran as often, else as the mean of where
  // control came from.
  void spread(std::vector<std::optional<double>>& ratio) const {
    for (std::size_t pass = 0; pass < 2 * flow_.blocks.size(); ++pass) {
      bool changed = false;
      for (const bool loosely : {false, true}) {
        for (std::size_t b = 0; b < ratio.size() && !(changed && loosely); ++b) {
          if (ratio[b])
            continue;
          for (std::size_t other = 0; other < ratio.size() && !loosely && !ratio[b]; ++other)
            if (ratio[other] && flow_counts_.blocks[b] > 0 &&
                same(flow_counts_.blocks[b], flow_counts_.blocks[other])) {
              ratio[b] = ratio[other];
              changed = true;
            }
          for (const std::size_t e : flow_.blocks[b].in)
            if (loosely && !ratio[b] && ratio[flow_.edges[e].from]) {
              ratio[b] = ratio[flow_.edges[e].from];
              changed = true;
            }
        }
      }
      if (!changed)
        return;
    }
  }

  void count_instructions() {
    join_.instructions.resize(function_.instructions.size());
    std::map<int, double> passes; // threads that come by a guarded copy of a line
    std::map<std::pair<RegisterFile, int>, std::size_t> set_at; // who wrote a predicate last
    std::set<int> elects; // lines in which one lane acts for its warp
    for (std::size_t k = 0; k < function_.instructions.size(); ++k) {
      const SassInstruction& i = function_.instructions[k];
      const std::size_t b = flow_.block_of[k];
      for (const Registers& written : i.destinations)
        set_at[{written.file, written.first}] = k;
      if (!i.ptx_line)
        continue;
      if (i.guard && !i.memory)
        choices_[{b, *i.ptx_line}].insert(
            {i.guard->index, set_at[{i.guard->file, i.guard->index}]});
      if (i.guard && i.memory)
        passes[*i.ptx_line] += flow_counts_.blocks[flow_.block_of[k]];
      if (i.opcode == "VOTEU" || i.opcode == "VOTE" || i.opcode == "UFLO")
        elects.insert(*i.ptx_line);
    }
    for (std::size_t k = 0; k < function_.instructions.size(); ++k) {
      const SassInstruction& i = function_.instructions[k];
      const std::size_t b = flow_.block_of[k];
      ExecutionCounts& counts = join_.instructions[k];
      counts = join_.blocks[b];
      if (i.guard && !flow_.blocks[b].reachable)
        continue;
      if (i.guard && i.guard->index == kAlwaysTrue)
        counts.threads_on = i.guard->negated ? 0 : counts.threads;
      else if (i.guard)
        counts.threads_on = std::min(counts.threads, lanes_on(k, b, counts, passes, elects));
    }
  }

  // Lanes whose guard holds.
  double lanes_on(std::size_t k, std::size_t b, const ExecutionCounts& block,
                  const std::map<int, double>& passes, const std::set<int>& elects) const {
    const SassInstruction& i = function_.instructions[k];
    if (k + 1 == flow_.blocks[b].last) {
      double stays = 0;
      double goes = 0;
      for (const std::size_t e : flow_.blocks[b].out)
        (flow_.edges[e].kind == EdgeKind::next ? stays : goes) += flow_counts_.edges[e];
      if (i.opcode == "BRA" || i.opcode == "BRX")
        return goes;
      if (i.opcode == "EXIT" || i.opcode == "RET")
        return block.threads - stays;
    }
    if (!i.ptx_line)
      return block.threads;
    const ExecutionCounts line = of_line(*i.ptx_line);
    if (i.memory && i.memory->atomic && elects.contains(*i.ptx_line))
      return block.warps;
    const auto pass = passes.find(*i.ptx_line);
    if (i.memory && pass != passes.end() && pass->second > 0)
      return block.threads * std::min(1.0, line.threads_on / pass->second);
    // An array that lives in registers: one guarded move for each element it may be.
    const PtxLine& text =
        ptx_.lines[std::min(static_cast<std::size_t>(*i.ptx_line), ptx_.lines.size() - 1)];
    const auto choices = choices_.find({b, *i.ptx_line});
    if ((text.mnemonic.starts_with("ld.local") || text.mnemonic.starts_with("st.local")) &&
        choices != choices_.end())
      return block.threads / static_cast<double>(choices->second.size());
    return line.threads_on;
  }

  void judge() {
    double total = 0;
    double wrong = 0;
    for (const Anchor& anchor : anchors_) {
      const double want = expected(anchor);
      const double got = found(anchor);
      total += trust_weight(anchor.trust) * want;
      wrong += trust_weight(anchor.trust) * std::abs(want - got);
      if (!same(want, got))
        join_.worst.push_back({anchor.line, want, got});
    }
    join_.residual = total > 0 ? wrong / total : 0;
    std::sort(join_.worst.begin(), join_.worst.end(), [](const LineError& a, const LineError& b) {
      return std::abs(a.expected - a.found) > std::abs(b.expected - b.found);
    });
    if (join_.worst.size() > kMaxWorst)
      join_.worst.resize(kMaxWorst);
    double all = 0;
    double assumed = 0;
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      const double work = flow_counts_.blocks[b] *
                          static_cast<double>(flow_.blocks[b].last - flow_.blocks[b].first);
      all += work;
      assumed += assumed_blocks_.contains(b) ? work : 0;
    }
    join_.assumed = all > 0 ? assumed / all : 0;
  }

  const SassFunction& function_;
  const Flow& flow_;
  const PtxLines& ptx_;
  const std::vector<ExecutionCounts>& counts_;
  std::vector<Anchor> anchors_;
  bool integral_ = true;
  FlowCounts flow_counts_;
  std::set<std::size_t> assumed_blocks_;
  // Distinct guards on instructions of a line in a block: predicate, and who wrote it.
  std::map<std::pair<std::size_t, int>, std::set<std::pair<int, std::size_t>>> choices_;
  Join join_;
};

} // namespace

Join join(const SassFunction& function, const Flow& flow, const PtxLines& ptx,
          const std::vector<ExecutionCounts>& counts) {
  return Joiner(function, flow, ptx, counts).run();
}

} // namespace kernevo::sass
