// The figures of a run that are followed over its steps, under the names kernel-evo's users know
// where the meaning is the same.
#pragma once

#include "kernevo/evolve/run_state.h"
#include "kernevo/report/event_file.h"

#include <deque>
#include <map>

namespace kernevo::report {

class RunScalars {
public:
  // What an event adds; `state` is the run's once it was applied. Events must come in order from
  // the run's first one.
  std::vector<Scalar> take(const RunEvent& event, const evolve::RunState& state);

private:
  void told(const Evaluation& evaluation, const evolve::RunState& state);
  void program(const Evaluation& evaluation, const evolve::RunState& state);
  void engine(const Evaluation& evaluation, const evolve::RunState& state);
  void best(const Evaluation& evaluation, const evolve::RunState& state);
  void tokens(const ModelCall& call, const evolve::RunState& state);
  void put(std::string tag, double value) { out_.push_back({std::move(tag), value}); }

  std::vector<Scalar> out_;
  std::map<Step, bool> proposed_; // steps under way whose candidate is there
  std::uint64_t valid_ = 0;
  std::uint64_t invalid_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t rejected_validation_ = 0;
  std::uint64_t rejected_strategy_ = 0;
  std::deque<double> latest_ns_; // of right candidates
};

} // namespace kernevo::report
