#include "kernevo/predict/access_table.h"

#include <algorithm>

namespace kernevo {

AccessTable::AccessTable(const LaunchCounts& counts) {
  for (const InstructionCounts& instruction : counts.instructions)
    for (const AccessCounts& access : instruction.accesses)
      lines_[instruction.ptx_line].push_back(access);
}

const AccessCounts* AccessTable::find(int ptx_line, MemorySpace space) const {
  const auto line = lines_.find(ptx_line);
  if (line == lines_.end())
    return nullptr;
  const auto found = std::find_if(line->second.begin(), line->second.end(),
                                  [&](const AccessCounts& a) { return a.space == space; });
  return found == line->second.end() ? nullptr : &*found;
}

const AccessCounts* AccessTable::first(int ptx_line) const {
  const auto line = lines_.find(ptx_line);
  return line == lines_.end() ? nullptr : &line->second.front();
}

double l1_passes(const AccessCounts& access) {
  if (access.requests == 0)
    return 0;
  const auto requests = static_cast<double>(access.requests);
  return std::max(static_cast<double>(access.lines), static_cast<double>(access.sectors) / 4) /
         requests;
}

} // namespace kernevo
