// An evolution without a compiler: scripted kernels, proposed by a script, on a scripted device.
#pragma once

#include "kernevo/evolve/orchestrator.h"
#include "scripted_kernels.h"
#include "scripted_proposer.h"

namespace kernevo {

class ScriptedRun {
public:
  // Whose best kernel takes 2000 ns, and the reference 20000; others are slower, wrong somewhere or
  // do not compile.
  explicit ScriptedRun(std::shared_ptr<FakeDevice> device = fake_device());

  // To its end.
  Result<evolve::RunState> start(store::Journal& journal, unsigned jobs = 1) const;
  evolve::Panel panel(store::Journal& journal) const;

  const evolve::RunContext& context() const { return context_; }
  FakeDevice& device() const { return *device_; }
  const std::string& best() const { return best_; } // its source

private:
  std::shared_ptr<FakeDevice> device_;
  evolve::RunContext context_;
  evolve::Script script_;
  std::string best_;
};

} // namespace kernevo
