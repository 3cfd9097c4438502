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
  std::uint64_t blocks_counted = 0; // that ran; the totals are theirs, scaled to the grid
  // Standard error of the scaled instruction count, relative; 0 when every block ran.
  double sampling_error = 0;

  // 0 for a name that is not there.
  double value_of(std::string_view name) const;
};

Counters counters_of(const LaunchCounts& launch);

} // namespace kernevo
