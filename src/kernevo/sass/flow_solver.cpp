#include "kernevo/sass/flow_solver.h"

#include <algorithm>
#include <cmath>

namespace kernevo::sass {

namespace {

constexpr double kCallWeight = 3;
constexpr double kRidge = 1e-13;
// Lines that agree count for more, up to this: weights far apart cost digits.
constexpr double kMaxWeight = 10;
// Errors of small counts are relative to this part of the largest one: a row that says "never"
// would else be a million times stiffer than one that says "often".
constexpr double kLeastScale = 1e-3;
// A row pulls with at most weight / scale; an arc held at zero gives way by a thousandth of a
// passage when all pull at once. A stiffer spring would drown what the weak rows say.
constexpr double kStiffness = 1e3;
constexpr double kStiffSpring = 1e4;
// A sum of errors that is nothing.
constexpr double kSolved = 1e-6;
constexpr int kRounds = 60;
// From this round on an arc held at zero stays there, so that the end is not a round in which
// two arcs of a block cancel.
constexpr int kSettle = 40;
constexpr int kMaxRounds = 120;

struct Arc {
  std::size_t from = 0;
  std::size_t to = 0;
};

struct Row {
  std::vector<double> a; // over the chords
  double value = 0;
  double scale = 1; // errors are relative to this
  double weight = 1;
};

// Solves M u = v for symmetric positive M, scaled to a unit diagonal first.
std::vector<double> solve_symmetric(std::vector<double> m, std::vector<double> v) {
  const std::size_t n = v.size();
  std::vector<double> scale(n);
  for (std::size_t i = 0; i < n; ++i)
    scale[i] = m[i * n + i] > 0 ? 1 / std::sqrt(m[i * n + i]) : 1;
  for (std::size_t i = 0; i < n; ++i) {
    v[i] *= scale[i];
    for (std::size_t j = 0; j < n; ++j)
      m[i * n + j] *= scale[i] * scale[j];
    m[i * n + i] += kRidge;
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i)
        m[i * n + j] -= m[i * n + k] * m[j * n + k];
    const double pivot = std::sqrt(std::max(m[j * n + j], kRidge));
    for (std::size_t i = j; i < n; ++i)
      m[i * n + j] /= pivot;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      v[i] -= m[i * n + k] * v[k];
    v[i] /= m[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k)
      v[i] -= m[k * n + i] * v[k];
    v[i] /= m[i * n + i];
  }
  for (std::size_t i = 0; i < n; ++i)
    v[i] *= scale[i];
  return v;
}

class Solver {
public:
  Solver(const Flow& flow, bool stiff) : flow_(flow), outside_(flow.blocks.size()), stiff_(stiff) {
    for (const Edge& edge : flow.edges)
      arcs_.push_back({edge.from, edge.to});
    entry_.assign(flow.blocks.size(), kNone);
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      if (!flow.blocks[b].reachable)
        continue;
      if (flow.blocks[b].is_entry) {
        entry_[b] = arcs_.size();
        arcs_.push_back({outside_, b});
      }
      if (flow.blocks[b].may_leave)
        arcs_.push_back({b, outside_});
    }
    build_cycles();
  }

  FlowCounts solve(const std::vector<CountEquation>& equations,
                   const std::vector<CountExpectation>& expectations) {
    for (const CountEquation& equation : equations)
      least_scale_ = std::max(least_scale_, stiff_ ? 1 : kLeastScale * equation.value);
    for (const CountEquation& equation : equations)
      add(equation);
    for (const CountExpectation& one : expectations)
      add_row(one.edge ? cycles_[*one.edge] : block_row(one.block), one.value, one.weight);
    add_calls(equations);
    std::vector<double> passages = iterate();
    FlowCounts counts;
    counts.edges.assign(passages.begin(),
                        passages.begin() + static_cast<std::ptrdiff_t>(flow_.edges.size()));
    counts.blocks.assign(flow_.blocks.size(), 0);
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      for (const std::size_t e : flow_.blocks[b].in)
        counts.blocks[b] += passages[e];
      if (entry_[b] != kNone)
        counts.blocks[b] += passages[entry_[b]];
    }
    return counts;
  }

private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // A depth-first tree from the outside along the arcs; every arc not in it closes one cycle, and
  // its passages are an unknown. Loops' back edges are never in the tree, so a hot loop is an
  // unknown of its own and does not disturb the rest.
  void build_cycles() {
    const std::size_t nodes = flow_.blocks.size() + 1;
    std::vector<std::vector<std::size_t>> leaving(nodes);
    for (std::size_t e = 0; e < arcs_.size(); ++e)
      leaving[arcs_[e].from].push_back(e);
    std::vector<std::size_t> parent(nodes, kNone);
    std::vector<bool> seen(nodes, false);
    std::vector<std::size_t> work = {outside_};
    std::vector<std::size_t> next(nodes, 0);
    seen[outside_] = true;
    while (!work.empty()) {
      const std::size_t node = work.back();
      if (next[node] == leaving[node].size()) {
        work.pop_back();
        continue;
      }
      const std::size_t e = leaving[node][next[node]++];
      const std::size_t to = arcs_[e].to;
      if (seen[to])
        continue;
      seen[to] = true;
      parent[to] = e;
      work.push_back(to);
    }
    std::vector<std::size_t> chords;
    for (std::size_t e = 0; e < arcs_.size(); ++e)
      if (seen[arcs_[e].from] && parent[arcs_[e].to] != e)
        chords.push_back(e);
    unknowns_ = chords.size();
    cycles_.assign(arcs_.size(), std::vector<double>(unknowns_, 0));
    for (std::size_t j = 0; j < unknowns_; ++j) {
      const Arc& arc = arcs_[chords[j]];
      cycles_[chords[j]][j] += 1;
      for (std::size_t n = arc.from; parent[n] != kNone; n = arcs_[parent[n]].from)
        cycles_[parent[n]][j] += 1;
      for (std::size_t n = arc.to; parent[n] != kNone; n = arcs_[parent[n]].from)
        cycles_[parent[n]][j] -= 1;
    }
  }

  std::vector<double> block_row(std::size_t b) const {
    std::vector<double> row(unknowns_, 0);
    const auto add_arc = [&](std::size_t e) {
      for (std::size_t j = 0; j < unknowns_; ++j)
        row[j] += cycles_[e][j];
    };
    for (const std::size_t e : flow_.blocks[b].in)
      add_arc(e);
    if (entry_[b] != kNone)
      add_arc(entry_[b]);
    return row;
  }

  void add_row(std::vector<double> a, double value, double weight) {
    const double scale = std::max(std::abs(value), least_scale_);
    // Many lines of one block say the same.
    for (Row& row : rows_)
      if (row.value == value && row.a == a) {
        row.weight = stiff_ ? row.weight + weight
                            : std::min(row.weight + weight, std::max(kMaxWeight, row.weight));
        return;
      }
    rows_.push_back({std::move(a), value, scale, weight});
  }

  void add(const CountEquation& equation) {
    std::vector<double> a(unknowns_, 0);
    for (const auto& [block, coefficient] : equation.blocks) {
      const std::vector<double> one = block_row(block);
      for (std::size_t j = 0; j < unknowns_; ++j)
        a[j] += coefficient * one[j];
    }
    add_row(std::move(a), equation.value, equation.weight);
  }

  // A function is entered as often as the blocks that call it run.
  void add_calls(const std::vector<CountEquation>& equations) {
    double largest = 1;
    for (const CountEquation& equation : equations)
      largest = std::max(largest, equation.value);
    for (std::size_t callee = 0; callee < flow_.blocks.size(); ++callee) {
      if (entry_[callee] == kNone || callee == 0)
        continue;
      std::vector<double> a = cycles_[entry_[callee]];
      bool called = false;
      for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
        if (flow_.blocks[b].call != callee || !flow_.blocks[b].reachable)
          continue;
        called = true;
        const std::vector<double> one = block_row(b);
        for (std::size_t j = 0; j < unknowns_; ++j)
          a[j] -= one[j];
      }
      if (called)
        rows_.push_back({std::move(a), 0, 1, kCallWeight});
    }
  }

  // Iteratively reweighted least squares for the sum of absolute errors. An arc that comes out
  // negative is held at zero until it no longer wants to be.
  std::vector<double> iterate() {
    const std::size_t n = unknowns_;
    std::vector<double> y(n, 0);
    std::vector<double> passages(arcs_.size(), 0);
    std::vector<bool> held(arcs_.size(), false);
    std::vector<double> importance(rows_.size(), 1);
    double spring = 0;
    for (const Row& row : rows_)
      spring += kStiffness * row.weight / row.scale;
    if (stiff_)
      spring = kStiffSpring;
    bool settled = false;
    for (int round = 0; n > 0 && (round < kRounds || (!settled && round < kMaxRounds)); ++round) {
      std::vector<double> m(n * n, 0);
      std::vector<double> v(n, 0);
      const auto add_square = [&](const std::vector<double>& a, double value, double w) {
        for (std::size_t i = 0; i < n; ++i) {
          if (a[i] == 0)
            continue;
          v[i] += w * a[i] * value;
          for (std::size_t j = 0; j < n; ++j)
            m[i * n + j] += w * a[i] * a[j];
        }
      };
      for (std::size_t r = 0; r < rows_.size(); ++r)
        add_square(rows_[r].a, rows_[r].value,
                   rows_[r].weight * importance[r] / (rows_[r].scale * rows_[r].scale));
      for (std::size_t e = 0; e < arcs_.size(); ++e)
        if (held[e])
          add_square(cycles_[e], 0, spring);
      y = solve_symmetric(std::move(m), std::move(v));
      settled = true;
      for (std::size_t e = 0; e < arcs_.size(); ++e) {
        passages[e] = 0;
        for (std::size_t j = 0; j < n; ++j)
          passages[e] += cycles_[e][j] * y[j];
        const bool negative = passages[e] < 0;
        settled = settled && (!negative || held[e]);
        held[e] = negative || (round >= kSettle && held[e]);
      }
      // The floor falls from a percent to a millionth, so that early rounds stay stable.
      const double floor = std::max(1e-6, 1e-2 * std::pow(0.7, round));
      for (std::size_t r = 0; r < rows_.size(); ++r) {
        double error = -rows_[r].value;
        for (std::size_t j = 0; j < n; ++j)
          error += rows_[r].a[j] * y[j];
        importance[r] = 1 / std::max(std::abs(error) / rows_[r].scale, floor);
      }
    }
    for (double& one : passages)
      one = std::max(one, 0.0);
    return passages;
  }

  const Flow& flow_;
  std::size_t outside_;
  std::size_t unknowns_ = 0;
  std::vector<Arc> arcs_;          // the flow's edges, then entries and exits
  std::vector<std::size_t> entry_; // arc from the outside into a block
  std::vector<std::vector<double>> cycles_;
  std::vector<Row> rows_;
  double least_scale_ = 1;
  bool stiff_;
};

// What is left unexplained, in the terms of the equations.
double cost_of(const FlowCounts& counts, const std::vector<CountEquation>& equations,
               const std::vector<CountExpectation>& expectations) {
  double largest = 1;
  for (const CountEquation& equation : equations)
    largest = std::max(largest, equation.value);
  double cost = 0;
  const auto add = [&](double found, double value, double weight) {
    cost += weight * std::abs(found - value) / std::max(std::abs(value), kLeastScale * largest);
  };
  for (const CountEquation& equation : equations) {
    double found = 0;
    for (const auto& [block, coefficient] : equation.blocks)
      found += coefficient * counts.blocks[block];
    add(found, equation.value, equation.weight);
  }
  for (const CountExpectation& one : expectations)
    add(one.edge ? counts.edges[*one.edge] : counts.blocks[one.block], one.value, one.weight);
  return cost;
}

} // namespace

// An arc that early rounds hold at zero may be held for nothing, and which arcs those are depends
// on how unlike the rows are. Two ways of weighing them seldom fail on the same function; the sum
// of errors tells which did better.
FlowCounts solve_flow(const Flow& flow, const std::vector<CountEquation>& equations,
                      const std::vector<CountExpectation>& expectations) {
  FlowCounts even = Solver(flow, false).solve(equations, expectations);
  const double cost = cost_of(even, equations, expectations);
  if (cost <= kSolved)
    return even;
  FlowCounts stiff = Solver(flow, true).solve(equations, expectations);
  return cost_of(stiff, equations, expectations) < cost ? stiff : even;
}

} // namespace kernevo::sass
