// What the accesses of a PTX line look like, so that the machine instructions made from it can be
// told what they cost.
#pragma once

#include "kernevo/model/launch_counts.h"

#include <map>

namespace kernevo {

class AccessTable {
public:
  explicit AccessTable(const LaunchCounts& counts);

  // Accesses of the line, or null. An instruction that touches two kinds of memory (cp.async) has
  // one for each.
  const AccessCounts* find(int ptx_line, MemorySpace space) const;
  const AccessCounts* first(int ptx_line) const;

private:
  std::map<int, std::vector<AccessCounts>> lines_;
};

// 128-byte passes over the tags and data of L1 that a request takes.
double l1_passes(const AccessCounts& access);

} // namespace kernevo
