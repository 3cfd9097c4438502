// Which lines of the source a launch spends itself on.
#pragma once

#include "kernevo/explain/access_totals.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/predict/machine_work.h"
#include "kernevo/predict/prediction.h"

#include <string>
#include <vector>

namespace kernevo {

struct SourceLine {
  std::string file; // empty for what the compiler made without naming a line
  int line = 0;
  double issue_share = 0; // of the instructions issued
  double lanes_active = 1;
  double idle_lanes = 0; // lanes without work, over all its PTX instructions

  // On the blocks counted.
  AccessTotals memory; // global and local
  AccessTotals shared;
  double sector_share = 0;    // of all sectors
  double wavefront_share = 0; // of all passes over the banks

  double atomic_updates = 0; // by threads
  // The largest part of the launch's time that one of its shares stands for; ranks the lines.
  double weight = 0;

  std::string place() const; // "tiled.cu:23"
};

// Every line that issues something, heaviest first.
std::vector<SourceLine> find_source_lines(const LaunchCounts& counts, const MachineWork* work,
                                          const Prediction& prediction);

} // namespace kernevo
