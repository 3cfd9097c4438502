#include "kernevo/sass/unrolling.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace kernevo::sass {

namespace {

bool is_cyclic(const Flow& flow, std::size_t block) {
  std::vector<bool> seen(flow.blocks.size(), false);
  std::vector<std::size_t> work = {block};
  while (!work.empty()) {
    const std::size_t b = work.back();
    work.pop_back();
    for (const std::size_t e : flow.blocks[b].out) {
      const std::size_t to = flow.edges[e].to;
      if (to == block)
        return true;
      if (!seen[to]) {
        seen[to] = true;
        work.push_back(to);
      }
    }
  }
  return false;
}

struct Copy {
  std::size_t block = 0;
  double repeat = 1;
  bool cyclic = false;
};

double threads_of(const PtxBlock& block, const std::vector<ExecutionCounts>& counts) {
  const auto line = static_cast<std::size_t>(block.first);
  return line < counts.size() ? counts[line].threads : 0;
}

// How often the loop is entered: executions of its header less the branches back to it.
std::optional<double> entries_of(const PtxLines& ptx, const PtxLines::Loop& loop,
                                 const std::vector<ExecutionCounts>& counts) {
  double back = 0;
  for (std::size_t p = loop.header; p <= loop.latch; ++p) {
    const PtxBlock& block = ptx.blocks[p];
    const auto line = static_cast<std::size_t>(block.last);
    if (block.target != loop.header || line >= counts.size())
      continue;
    back += ptx.lines[line].guarded ? counts[line].threads_on : counts[line].threads;
  }
  const double entries = threads_of(ptx.blocks[loop.header], counts) - back;
  return entries > 0 ? std::optional(entries) : std::nullopt;
}

// Executions of each copy in one visit of the loop with a whole number of trips; nothing when the
// copies cannot take them all.
std::optional<std::vector<double>> share(const std::vector<Copy>& copies, double trips) {
  std::vector<double> runs;
  for (const Copy& copy : copies) {
    double n = std::floor(trips / copy.repeat);
    if (!copy.cyclic)
      n = std::min(n, 1.0);
    runs.push_back(n);
    trips -= n * copy.repeat;
  }
  return trips == 0 ? std::optional(runs) : std::nullopt;
}

} // namespace

std::vector<CountExpectation> expected_shares(const Flow& flow, const PtxLines& ptx,
                                              const std::vector<Anchor>& anchors,
                                              const std::vector<ExecutionCounts>& counts) {
  // One PTX block, the machine blocks that hold copies of it.
  std::map<std::size_t, std::map<std::size_t, double>> groups;
  for (const Anchor& anchor : anchors)
    if (anchor.trust == Trust::strong ||
        (anchor.trust == Trust::medium && !groups.contains(anchor.ptx_block)))
      for (const auto& [block, repeat] : anchor.copies)
        groups[anchor.ptx_block][block] = repeat;
  std::vector<CountExpectation> expectations;
  for (const auto& [p, blocks] : groups) {
    const auto loop = ptx.loop_around(p);
    if (!loop || blocks.size() < 2)
      continue;
    const auto entries = entries_of(ptx, *loop, counts);
    if (!entries)
      continue;
    std::vector<Copy> copies;
    for (const auto& [block, repeat] : blocks)
      copies.push_back({block, repeat, is_cyclic(flow, block)});
    std::stable_sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
      return a.repeat != b.repeat ? a.repeat > b.repeat : a.cyclic < b.cyclic;
    });
    if (copies.front().repeat == copies.back().repeat)
      continue;
    const double trips = threads_of(ptx.blocks[p], counts) / *entries;
    const double below = std::floor(trips + 1e-9);
    const double part = std::max(0.0, trips - below);
    const auto low = share(copies, below);
    const auto high = share(copies, below + 1);
    if (!low || (part > 1e-9 && !high))
      continue;
    for (std::size_t c = 0; c < copies.size(); ++c) {
      const double runs =
          *entries * ((1 - part) * (*low)[c] + (part > 1e-9 ? part * (*high)[c] : 0));
      expectations.push_back({std::nullopt, copies[c].block, runs, kAssumptionWeight});
    }
  }
  return expectations;
}

} // namespace kernevo::sass
