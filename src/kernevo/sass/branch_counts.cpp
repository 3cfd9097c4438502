#include "kernevo/sass/branch_counts.h"

#include <map>

namespace kernevo::sass {

namespace {

constexpr double kMeasuredWeight = 0.1;

// Instructions of a machine block that come from a PTX block.
int lines_from(const SassFunction& function, const BasicBlock& block, const PtxLines& ptx,
               std::size_t ptx_block) {
  int found = 0;
  for (std::size_t k = block.first; k < block.last; ++k) {
    const auto& line = function.instructions[k].ptx_line;
    if (line && static_cast<std::size_t>(*line) < ptx.lines.size() &&
        ptx.lines[static_cast<std::size_t>(*line)].block == ptx_block)
      ++found;
  }
  return found;
}

bool only_leaves(const PtxLines& ptx, std::size_t block) {
  const std::string& first = ptx.lines[static_cast<std::size_t>(ptx.blocks[block].first)].mnemonic;
  return first == "ret" || first == "exit" || first == "ret.uni";
}

} // namespace

std::vector<CountExpectation> measured_edges(const SassFunction& function, const Flow& flow,
                                             const PtxLines& ptx,
                                             const std::vector<ExecutionCounts>& counts) {
  std::map<int, std::vector<std::size_t>> copies; // PTX line -> machine blocks that end in it
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    const SassInstruction& last = function.instructions[flow.blocks[b].last - 1];
    if (flow.blocks[b].reachable && last.ptx_line && last.guard &&
        (last.opcode == "BRA" || last.opcode == "EXIT"))
      copies[*last.ptx_line].push_back(b);
  }
  std::vector<CountExpectation> measured;
  for (const auto& [line, blocks] : copies) {
    const auto number = static_cast<std::size_t>(line);
    if (blocks.size() != 1 || number >= ptx.lines.size() || number >= counts.size())
      continue;
    const PtxLine& text = ptx.lines[number];
    if (!text.guarded || !text.mnemonic.starts_with("bra") || !text.block ||
        ptx.blocks[*text.block].last != line || !ptx.blocks[*text.block].target)
      continue;
    const std::size_t taken = *ptx.blocks[*text.block].target;
    const std::size_t passed = *text.block + 1;
    if (passed >= ptx.blocks.size() || taken == passed)
      continue;
    const double goes = counts[number].threads_on;
    const double stays = counts[number].threads - goes;
    const BasicBlock& block = flow.blocks[blocks.front()];
    if (block.may_leave && block.out.size() == 1) {
      if (only_leaves(ptx, taken) != only_leaves(ptx, passed))
        measured.push_back(
            {block.out.front(), 0, only_leaves(ptx, taken) ? stays : goes, kMeasuredWeight});
      continue;
    }
    if (block.out.size() != 2)
      continue;
    // Positive: looks like the way of the taken branch.
    int leaning[2] = {0, 0};
    for (int way = 0; way < 2; ++way) {
      const BasicBlock& to = flow.blocks[flow.edges[block.out[static_cast<std::size_t>(way)]].to];
      leaning[way] = lines_from(function, to, ptx, taken) - lines_from(function, to, ptx, passed);
    }
    if (leaning[0] == leaning[1] || leaning[0] * leaning[1] > 0)
      continue;
    const bool first_is_taken = leaning[0] > leaning[1];
    measured.push_back({block.out[0], 0, first_is_taken ? goes : stays, kMeasuredWeight});
    measured.push_back({block.out[1], 0, first_is_taken ? stays : goes, kMeasuredWeight});
  }
  return measured;
}

} // namespace kernevo::sass
