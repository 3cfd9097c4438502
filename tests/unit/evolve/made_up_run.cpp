#include "made_up_run.h"

#include <fmt/format.h>

namespace kernevo::evolve {

RunStarted made_up_start(const RunSettings& settings) {
  RunStarted started;
  started.run = "made-up";
  started.task_file = "task.yaml";
  started.settings = settings;
  return started;
}

Evaluation made_up_evaluation(Step step, StepOutcome outcome, std::optional<double> ns) {
  Evaluation e;
  e.step = step;
  e.candidate = step;
  e.outcome = outcome;
  if (outcome != StepOutcome::compile_failed && outcome != StepOutcome::no_proposal &&
      outcome != StepOutcome::infrastructure)
    e.instances_timed = 1;
  if (ns) {
    e.objective = Nanoseconds{*ns};
    e.shapes = {{"a", Nanoseconds{*ns}, Nanoseconds{*ns * 0.9}, Nanoseconds{*ns * 1.1}}};
    KernelFacts facts;
    facts.launches = 1;
    facts.memory = "global";
    facts.registers = 32;
    facts.limiter = "none";
    e.facts = facts;
  }
  return e;
}

BottleneckFinding finding(BottleneckTag tag, double severity,
                          const std::vector<std::string>& directions) {
  BottleneckFinding result;
  result.tag = tag;
  result.severity = severity;
  result.message = "a message";
  result.evidence = {{"share.dram", 0.9, "", 0.6}};
  for (const std::string& direction : directions)
    result.directions.push_back({direction, direction + " it"});
  return result;
}

void MadeUpRun::apply(const RunEvent& event) {
  events.push_back(event);
  state.apply(event);
}

void MadeUpRun::baseline(double ns, const std::vector<BottleneckFinding>& findings) {
  apply(Directive{});
  Candidate reference;
  reference.proposer = "reference";
  reference.source = "source 0";
  apply(reference);
  Evaluation e = made_up_evaluation(0, StepOutcome::baseline, ns);
  e.bottlenecks = findings;
  apply(e);
}

Step MadeUpRun::propose(Step parent, const std::string& direction,
                        const std::vector<std::string>& genes) {
  Directive d;
  d.step = state.next_step;
  d.mode = parent == state.incumbent ? SearchMode::exploit : SearchMode::explore;
  d.parent = parent;
  d.proposer = "playbook";
  d.direction = direction;
  d.evaluations = 1;
  d.gate = "bandit";
  apply(d);
  Candidate c;
  c.step = d.step;
  c.parents = {parent};
  c.proposer = "playbook";
  c.source = fmt::format("source {}", d.step);
  c.genes = genes;
  apply(c);
  return d.step;
}

Step MadeUpRun::tune(Step candidate, std::size_t evaluations) {
  Directive d;
  d.step = state.next_step;
  d.mode = SearchMode::tune;
  d.parent = candidate;
  d.evaluations = evaluations;
  d.gate = "untuned";
  apply(d);
  return d.step;
}

NavigatorView World::view() const {
  NavigatorView view;
  view.open_arms = [this](const Member& parent) -> Result<std::vector<OpenArm>> {
    std::vector<OpenArm> arms;
    for (const auto& [direction, moves] : open)
      if (moves.value_or(1) > 0)
        arms.push_back({"playbook", direction, moves});
    asked.emplace_back(parent.candidate.step, arms);
    return arms;
  };
  view.recombiner = [this](const Member&, const Member&) -> Result<std::string> { return joiner; };
  return view;
}

} // namespace kernevo::evolve
