#include "kernevo/predict/machine_work.h"

#include <algorithm>
#include <utility>

namespace kernevo {
namespace {

constexpr double kLanes = 32;
// ptxas makes fewer instructions of some PTX, never so few. Where nothing in a loop stands one to
// one for its PTX, the flow is free to leave the loop out, and no anchored line says so.
constexpr double kLeastMachineShare = 0.25;

// The profile counts the lanes an instruction acts on; how many came by a guarded one is told by
// its unguarded neighbours in the basic block.
std::vector<sass::ExecutionCounts> by_line(const sass::PtxLines& ptx, const LaunchCounts& counts) {
  std::vector<sass::ExecutionCounts> lines(ptx.lines.size());
  std::vector<double> lanes_per_warp(ptx.blocks.size(), 0);
  for (const InstructionCounts& i : counts.instructions) {
    if (i.ptx_line < 1 || static_cast<std::size_t>(i.ptx_line) >= lines.size())
      continue;
    sass::ExecutionCounts& line = lines[static_cast<std::size_t>(i.ptx_line)];
    line.warps += static_cast<double>(i.executions);
    line.threads += static_cast<double>(i.threads);
    line.threads_on += static_cast<double>(i.threads);
    const sass::PtxLine& text = ptx.lines[static_cast<std::size_t>(i.ptx_line)];
    if (text.block && !text.guarded && i.executions > 0)
      lanes_per_warp[*text.block] =
          std::max(lanes_per_warp[*text.block],
                   static_cast<double>(i.threads) / static_cast<double>(i.executions));
  }
  for (std::size_t n = 1; n < lines.size(); ++n) {
    const sass::PtxLine& text = ptx.lines[n];
    if (!text.guarded || !text.block)
      continue;
    const double lanes = lanes_per_warp[*text.block];
    lines[n].threads = std::max(lines[n].threads, lines[n].warps * (lanes > 0 ? lanes : kLanes));
  }
  return lines;
}

} // namespace

MachineWork find_machine_work(sass::SassFunction function, std::string_view ptx,
                              const LaunchCounts& counts) {
  MachineWork work;
  work.function = std::move(function);
  work.flow = sass::find_flow(work.function);
  const sass::PtxLines lines = sass::read_ptx_lines(ptx);
  work.join = sass::join(work.function, work.flow, lines, by_line(lines, counts));
  double wanted = 0;
  for (const InstructionCounts& i : counts.instructions)
    wanted += static_cast<double>(i.executions);
  double found = 0;
  for (const sass::ExecutionCounts& instruction : work.join.instructions)
    found += instruction.warps;
  if (found < kLeastMachineShare * wanted)
    work.join.residual = 1;
  return work;
}

} // namespace kernevo
