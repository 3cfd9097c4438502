// What a person sees of a running evolution: a live view on a terminal, a line per event in a pipe,
// JSON events when asked.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/evolve/orchestrator.h"

#include <filesystem>

namespace kernevo::cli {

class EvolveView {
public:
  // The context must outlive it.
  EvolveView(const CommonOptions& options, const evolve::RunContext& context,
             std::filesystem::path folder);

  // `resumed`: the state a resumed run goes on from.
  void begin(const RunStarted& started, const evolve::RunState* resumed);
  void show(const RunEvent* event, const evolve::RunProgress& progress);
  void finish(const evolve::RunState& state, store::Journal& journal);

private:
  void line(const RunEvent& event, const evolve::RunProgress& progress) const;
  void live(const evolve::RunProgress& progress);
  void clear_live();

  CommonOptions options_;
  const evolve::RunContext& context_;
  std::filesystem::path folder_;
  bool terminal_ = false;
  std::size_t live_lines_ = 0;
  double last_drawn_ = -1;
};

} // namespace kernevo::cli
