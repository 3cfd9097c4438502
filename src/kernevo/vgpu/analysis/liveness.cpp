#include "kernevo/vgpu/analysis/liveness.h"

#include <bit>

namespace kernevo::vgpu::analysis {
namespace {

// The set before an instruction, from the one after it.
void step_back(const Effects& effects, RegisterSet& live) {
  if (!effects.partial)
    for (const std::uint32_t reg : effects.writes)
      live.erase(reg);
  for (const std::uint32_t reg : effects.reads)
    live.insert(reg);
}

void step_back(const Flow& flow, const Liveness& liveness, std::uint32_t block, RegisterSet& live) {
  const BasicBlock& range = flow.blocks[block];
  for (std::uint32_t i = range.last; i-- > range.first;)
    step_back(liveness.effects[i], live);
}

// What a block reads before it writes, and what it surely writes.
struct Summary {
  RegisterSet reads;
  RegisterSet kills;
};

Summary summarize(const Flow& flow, const Liveness& liveness, std::uint32_t block,
                  std::size_t registers) {
  Summary summary{RegisterSet(registers), RegisterSet(registers)};
  const BasicBlock& range = flow.blocks[block];
  for (std::uint32_t i = range.first; i < range.last; ++i)
    if (!liveness.effects[i].partial)
      for (const std::uint32_t reg : liveness.effects[i].writes)
        summary.kills.insert(reg);
  step_back(flow, liveness, block, summary.reads);
  return summary;
}

} // namespace

bool RegisterSet::unite(const RegisterSet& other) {
  std::uint64_t added = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    added |= other.words_[i] & ~words_[i];
    words_[i] |= other.words_[i];
  }
  return added != 0;
}

bool RegisterSet::unite_without(const RegisterSet& other, const RegisterSet& left_out) {
  std::uint64_t added = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t more = other.words_[i] & ~left_out.words_[i];
    added |= more & ~words_[i];
    words_[i] |= more;
  }
  return added != 0;
}

std::vector<std::uint32_t> RegisterSet::members() const {
  return members_without(RegisterSet(words_.size() * 64));
}

std::vector<std::uint32_t> RegisterSet::members_without(const RegisterSet& left_out) const {
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < words_.size(); ++i)
    for (std::uint64_t word = words_[i] & ~left_out.words_[i]; word != 0; word &= word - 1)
      found.push_back(static_cast<std::uint32_t>(i * 64) +
                      static_cast<std::uint32_t>(std::countr_zero(word)));
  return found;
}

Liveness find_liveness(const Code& code, const Flow& flow) {
  const std::size_t registers = code.function->registers.size();
  const std::size_t blocks = flow.blocks.size();
  Liveness liveness;
  liveness.effects.reserve(code.function->instructions.size());
  for (const ptx::Instruction& instruction : code.function->instructions)
    liveness.effects.push_back(effects_of(instruction));
  liveness.live_out.assign(blocks, RegisterSet(registers));
  liveness.live_in.reserve(blocks);
  std::vector<RegisterSet> kills;
  kills.reserve(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    Summary summary = summarize(flow, liveness, b, registers);
    liveness.live_in.push_back(std::move(summary.reads));
    kills.push_back(std::move(summary.kills));
  }

  std::vector<std::uint32_t> waiting;
  std::vector<bool> is_waiting(blocks, true);
  waiting.reserve(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b)
    waiting.push_back(b); // taken from the back: against the flow
  while (!waiting.empty()) {
    const std::uint32_t block = waiting.back();
    waiting.pop_back();
    is_waiting[block] = false;
    RegisterSet& out = liveness.live_out[block];
    bool grown = false;
    for (const std::uint32_t to : flow.blocks[block].successors)
      grown = out.unite(liveness.live_in[to]) || grown;
    if (!grown || !liveness.live_in[block].unite_without(out, kills[block]))
      continue;
    for (const std::uint32_t from : flow.blocks[block].predecessors)
      if (!is_waiting[from]) {
        is_waiting[from] = true;
        waiting.push_back(from);
      }
  }
  return liveness;
}

std::vector<RegisterSet> live_before(const Code& /*code*/, const Flow& flow,
                                     const Liveness& liveness, std::uint32_t block) {
  const BasicBlock& range = flow.blocks[block];
  std::vector<RegisterSet> before(range.last - range.first);
  RegisterSet live = liveness.live_out[block];
  for (std::uint32_t i = range.last; i-- > range.first;) {
    step_back(liveness.effects[i], live);
    before[i - range.first] = live;
  }
  return before;
}

} // namespace kernevo::vgpu::analysis
