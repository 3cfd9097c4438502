// A run of any length without kernels: the real navigator, panel and journal, a proposer that
// always has another idea, and results that are made up. For figures and tests of size.
#pragma once

#include "kernevo/evolve/panel.h"

namespace kernevo {

class SyntheticRun {
public:
  // The journal must outlive it, and be new.
  SyntheticRun(store::Journal& journal, std::uint64_t seed);

  Result<void> begin();
  // One step: decide, propose, tell; all of it in the journal.
  Result<void> step();

  const evolve::RunState& state() const { return state_; }

private:
  Result<void> record(const RunEvent& event, const store::Blobs& blobs = {});
  Evaluation evaluate(const Directive& directive);

  store::Journal& journal_;
  evolve::Panel panel_;
  evolve::RunState state_;
  std::uint64_t seed_;
};

} // namespace kernevo
