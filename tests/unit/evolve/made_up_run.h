// A run without kernels: events made up by the test, a world of directions that runs out.
#pragma once

#include "kernevo/evolve/navigator.h"

#include <map>
#include <string>
#include <vector>

namespace kernevo::evolve {

RunStarted made_up_start(const RunSettings& settings = {});
Evaluation made_up_evaluation(Step step, StepOutcome outcome, std::optional<double> ns = {});
BottleneckFinding finding(BottleneckTag tag, double severity,
                          const std::vector<std::string>& directions);

// Applies events as an orchestrator would.
class MadeUpRun {
public:
  explicit MadeUpRun(const RunSettings& settings = {}) { apply(made_up_start(settings)); }

  RunState state;
  std::vector<RunEvent> events;

  void apply(const RunEvent& event);
  // Step 0.
  void baseline(double ns = 1000, const std::vector<BottleneckFinding>& findings = {});
  // A directive of a proposer, with its candidate; returns the step.
  Step propose(Step parent, const std::string& direction,
               const std::vector<std::string>& genes = {"gene"});
  Step tune(Step candidate, std::size_t evaluations = 10);
  void tell(Evaluation evaluation) { apply(std::move(evaluation)); }
  void tell(Step step, StepOutcome outcome, std::optional<double> ns = {}) {
    apply(made_up_evaluation(step, outcome, ns));
  }
  // The whole step at once.
  Step step(Step parent, const std::string& direction, StepOutcome outcome,
            std::optional<double> ns = {}, const std::vector<std::string>& genes = {"gene"}) {
    const Step made = propose(parent, direction, genes);
    tell(made, outcome, ns);
    return made;
  }
};

// What is open: directions with so many kernels left from any parent; recombinations if any.
struct World {
  std::map<std::string, std::optional<std::size_t>> open;
  std::string joiner;
  mutable std::vector<std::pair<Step, std::vector<OpenArm>>> asked;

  NavigatorView view() const;
};

} // namespace kernevo::evolve
