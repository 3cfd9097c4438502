// How long one launch would take on a named GPU, and why: every term of the model is kept.
#pragma once

#include "kernevo/model/occupancy.h"
#include "kernevo/model/timing.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// Bytes of the whole launch that pass each level. Modelled, through caches.
struct MemoryTraffic {
  double l1_bytes = 0; // global and local sectors that reach L1
  double l2_read_bytes = 0;
  double l2_write_bytes = 0;
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
};

struct Prediction {
  std::string kernel;
  Nanoseconds time;
  double error = 0; // relative; how far off validation was for two launches in three
  // The time each resource alone would need, longest first. The launch takes at least as long as
  // the longest of them.
  std::vector<TimingTerm> bounds;
  Occupancy occupancy;
  double waves = 0; // blocks of the grid / blocks the whole GPU holds at once
  MemoryTraffic traffic;
  bool from_machine_code = false; // false: PTX had to do, for lack of tools or of sense
  // Share of what the PTX did that the counts of machine instructions do not account for.
  double unexplained = 0;

  const TimingTerm& limiter() const { return bounds.front(); }
  // Share of the time that the resource is busy; 0 when it is not used.
  double share_of(std::string_view bound) const;
};

} // namespace kernevo
