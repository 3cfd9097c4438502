// A launch's counts as a profiler shows them: named totals of the whole grid.
#pragma once

#include "kernevo/model/launch_counts.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct Counter {
  std::string name; // the hardware profiler's, where the meaning is the same
  double value = 0;
  std::string_view unit;
  std::string_view meaning;
  bool modelled = false; // depends on the model of a cache, not on the program alone
};

struct Counters {
  std::vector<Counter> all;
  std::uint64_t blocks = 0;         // of the grid
  std::uint64_t blocks_counted = 0; // the totals are theirs, scaled to the grid
  // Of the totals, relative: found against what every block did, or else the standard error of the
  // scaled instruction count; 0 when every block was counted.
  double sampling_error = 0;

  // 0 for a name that is not there.
  double value_of(std::string_view name) const;
};

Counters counters_of(const LaunchCounts& launch);

} // namespace kernevo
