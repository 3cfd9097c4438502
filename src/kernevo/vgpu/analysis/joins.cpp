#include "kernevo/vgpu/analysis/joins.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace kernevo::vgpu::analysis {

Joins::Joins(const Code& code, const Flow& flow, const Liveness& liveness)
    : flow_(flow), liveness_(liveness), block_at_(flow.blocks.size()),
      position_(flow.blocks.size()), loop_last_(flow.blocks.size(), kNone),
      idle_(flow.blocks.size(), false), defining_(code.function->registers.size()),
      places_(flow.blocks.size()), taken_(code.function->registers.size()) {
  std::iota(block_at_.begin(), block_at_.end(), 0);
  auto order = [&](std::uint32_t block) {
    return code.order[code.first_op[flow.blocks[block].first]];
  };
  std::stable_sort(block_at_.begin(), block_at_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return order(a) < order(b); });
  for (std::uint32_t p = 0; p < block_at_.size(); ++p)
    position_[block_at_[p]] = p;
  for (std::uint32_t p = 0; p < block_at_.size(); ++p) {
    const BasicBlock& block = flow.blocks[block_at_[p]];
    idle_[p] = block.successors.empty() && liveness.live_in[block_at_[p]].members().empty();
    for (const std::uint32_t to : block.successors)
      if (position_[to] <= p)
        loop_last_[position_[to]] = p; // the last one stays
    for (std::uint32_t i = block.first; i < block.last; ++i)
      for (const std::uint32_t reg : liveness.effects[i].writes)
        if (defining_[reg].empty() || defining_[reg].back() != p)
          defining_[reg].push_back(p);
  }
}

std::vector<std::uint32_t> Joins::registers_parted_by(std::uint32_t block,
                                                      const RegisterSet& known) {
  ++stamp_;
  branch_ = position_[block];
  waiting_.clear();
  continued_.clear();
  found_.clear();
  known_ = &known;
  for (const std::uint32_t to : flow_.blocks[block].successors)
    visit(branch_, position_[to], position_[to]);
  while (!waiting_.empty()) {
    const std::uint32_t position = pop();
    Place& here = places_[position];
    if (here.join)
      collect(position, position);
    if (waiting_.empty() && !in_open_loop(position))
      break; // all lanes are here, or gone
    here.passed = true;
    const std::uint32_t label = here.label;
    for (const std::uint32_t to : flow_.blocks[block_at_[position]].successors)
      visit(position, position_[to], label);
  }
  for (const Loop& loop : continued_)
    if (places_[loop.head].join)
      collect(loop.head, loop.last + 1);
  for (const std::uint32_t reg : found_)
    taken_.erase(reg);
  return std::move(found_);
}

Joins::Place& Joins::place(std::uint32_t position) {
  Place& found = places_[position];
  if (found.stamp != stamp_)
    found = {stamp_, kNone, false, false};
  return found;
}

void Joins::visit(std::uint32_t from, std::uint32_t to, std::uint32_t label) {
  if (to <= from) {
    // A loop that starts after the branch is entered by lanes that are together by then, or join
    // at its head; what happens inside is the affair of its own branches.
    if (to <= branch_)
      visit_loop(to, label);
    return;
  }
  // The usual way out, a block that only returns: nothing can differ there.
  if (idle_[to])
    return;
  Place& target = place(to);
  if (target.label == kNone) {
    target.label = label;
    push(to);
  } else if (target.label != label) {
    target.label = to;
    target.join = true;
  }
}

// Some lanes go round the loop that the branch is in, and may leave it later than the others.
void Joins::visit_loop(std::uint32_t head, std::uint32_t label) {
  Place& target = place(head);
  if (target.label != kNone) {
    target.join = target.join || target.label != label;
    return;
  }
  target.label = label;
  const std::uint32_t last = loop_last_[head];
  continued_.push_back({head, last});
  for (std::uint32_t p = head; p <= last; ++p)
    for (const std::uint32_t to : flow_.blocks[block_at_[p]].successors)
      if (position_[to] > last || position_[to] < head)
        visit(last, position_[to], head);
}

void Joins::push(std::uint32_t position) {
  waiting_.push_back(position);
  std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
}

std::uint32_t Joins::pop() {
  std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
  const std::uint32_t position = waiting_.back();
  waiting_.pop_back();
  return position;
}

bool Joins::in_open_loop(std::uint32_t position) const {
  return std::any_of(continued_.begin(), continued_.end(),
                     [&](const Loop& loop) { return position <= loop.last; });
}

void Joins::collect(std::uint32_t join, std::uint32_t limit) {
  for (const std::uint32_t reg : liveness_.live_in[block_at_[join]].members_without(*known_))
    if (!taken_.contains(reg) && defined_since_branch(reg, join, limit)) {
      taken_.insert(reg);
      found_.push_back(reg);
    }
}

bool Joins::defined_since_branch(std::uint32_t reg, std::uint32_t join, std::uint32_t limit) const {
  return std::any_of(defining_[reg].begin(), defining_[reg].end(), [&](std::uint32_t at) {
    if (at < limit && places_[at].stamp == stamp_ && places_[at].passed)
      return true;
    return std::any_of(continued_.begin(), continued_.end(), [&](const Loop& loop) {
      return at >= loop.head && at <= loop.last && (join < loop.head || join > loop.last);
    });
  });
}

} // namespace kernevo::vgpu::analysis
