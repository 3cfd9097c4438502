#include "kernevo/explain/source_lines.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kernevo {
namespace {

constexpr double kLanes = 32;

using Key = std::pair<std::string, int>;

void add_access(SourceLine& line, const AccessCounts& a) {
  if (a.action == MemoryAction::atomic)
    line.atomic_updates += static_cast<double>(a.threads);
  if (a.space == MemorySpace::global || a.space == MemorySpace::local)
    line.memory.add(a);
  else if (a.space == MemorySpace::shared)
    line.shared.add(a);
}

} // namespace

std::string SourceLine::place() const {
  return file.empty() ? "(no source line)"
                      : fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line);
}

std::vector<SourceLine> find_source_lines(const LaunchCounts& counts, const MachineWork* work,
                                          const Prediction& prediction) {
  std::map<Key, SourceLine> lines;
  std::map<int, Key> by_ptx_line;
  std::map<Key, std::pair<double, double>> lanes; // executions, threads
  double issued = 0;
  for (const InstructionCounts& i : counts.instructions) {
    Key key{i.source_line > 0 ? i.source_file : "", i.source_line};
    SourceLine& line = lines[key];
    for (const AccessCounts& a : i.accesses)
      add_access(line, a);
    auto& [executions, threads] = lanes[key];
    executions += static_cast<double>(i.executions);
    threads += static_cast<double>(i.threads);
    if (work == nullptr) {
      line.issue_share += static_cast<double>(i.executions);
      issued += static_cast<double>(i.executions);
    }
    by_ptx_line[i.ptx_line] = std::move(key);
  }
  if (work != nullptr)
    for (std::size_t n = 0; n < work->join.instructions.size(); ++n) {
      const double warps = work->join.instructions[n].warps;
      const auto& ptx_line = work->function.instructions[n].ptx_line;
      const auto found = ptx_line ? by_ptx_line.find(*ptx_line) : by_ptx_line.end();
      issued += warps;
      lines[found == by_ptx_line.end() ? Key{} : found->second].issue_share += warps;
    }

  double sectors = 0;
  double wavefronts = 0;
  for (const auto& [key, line] : lines) {
    sectors += line.memory.sectors;
    wavefronts += line.shared.wavefronts;
  }
  const double memory =
      std::max({prediction.share_of("l1"), prediction.share_of("l2"), prediction.share_of("dram")});
  std::vector<SourceLine> sorted;
  for (auto& [key, line] : lines) {
    line.file = key.first;
    line.line = key.second;
    const auto& [executions, threads] = lanes[key];
    if (executions > 0)
      line.lanes_active = threads / (executions * kLanes);
    line.idle_lanes = executions * kLanes - threads;
    line.issue_share = issued > 0 ? line.issue_share / issued : 0;
    line.sector_share = sectors > 0 ? line.memory.sectors / sectors : 0;
    line.wavefront_share = wavefronts > 0 ? line.shared.wavefronts / wavefronts : 0;
    line.weight =
        std::max({line.issue_share * prediction.share_of("issue"), line.sector_share * memory,
                  line.wavefront_share * prediction.share_of("shared")});
    if (line.issue_share > 0 || line.memory.sectors > 0 || line.shared.wavefronts > 0)
      sorted.push_back(std::move(line));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SourceLine& a, const SourceLine& b) { return a.weight > b.weight; });
  return sorted;
}

} // namespace kernevo
