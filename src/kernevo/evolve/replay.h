// A run's decisions made again from its journal, to prove that they follow from what it holds.
#pragma once

#include "kernevo/evolve/panel.h"

namespace kernevo::evolve {

struct ReplayResult {
  std::uint64_t decisions = 0;          // made again
  std::uint64_t proposals = 0;          // written again, by proposers that answer at once
  std::uint64_t contests = 0;           // of bests that were measured: decided again from the shots
  std::vector<std::string> differences; // one line each; the first few
};

Result<ReplayResult> replay_run(store::Journal& journal, Panel& panel);

} // namespace kernevo::evolve
