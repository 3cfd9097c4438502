#include "recorded_run.h"

#include "kernevo/base/hash.h"
#include "kernevo/task/load_task.h"

#include <gtest/gtest.h>

namespace kernevo {

RecordedRun::RecordedRun(std::string task_text, const std::string& reference,
                         const std::map<std::string, std::int64_t>& parameters) {
  auto journal = store_.create("recorded");
  EXPECT_TRUE(journal) << (journal ? "" : format_error(journal.error()));
  journal_ = std::move(*journal);
  const auto loaded = parse_task(task_text, "task.yaml", &reference);
  EXPECT_TRUE(loaded) << (loaded ? "" : format_error(loaded.error()));
  for (const ShapeCase& shape : loaded->task.shapes)
    shapes_.push_back(shape.id);
  RunStarted started;
  started.run = "recorded";
  started.task_file = "task.yaml";
  started.task = sha256_hex(task_text);
  started.task_name = loaded->task.name;
  started.operation = loaded->task.operation;
  started.gpu = "A100";
  started.method = "modelled";
  started.program = "1.2.3";
  started.settings.seed = 7;
  add(started, {task_text});
  direct(SearchMode::baseline, std::nullopt);
  add(Candidate{0, sha256_hex(reference), {}, "reference", "The reference.", {}, {}}, {reference});
  evaluate(0, StepOutcome::baseline, 100, parameters);
}

void RecordedRun::add(const RunEvent& event, const store::Blobs& blobs) {
  const auto added = journal_->append(event, blobs);
  EXPECT_TRUE(added) << (added ? "" : format_error(added.error()));
}

void RecordedRun::direct(SearchMode mode, std::optional<Step> parent) {
  Directive directive;
  directive.step = step_;
  directive.mode = mode;
  directive.parent = parent;
  directive.proposer = mode == SearchMode::exploit ? "playbook" : "";
  directive.direction = mode == SearchMode::exploit ? "coalesce" : "";
  directive.gate = "bandit";
  directive.reason = "a test";
  add(directive);
}

void RecordedRun::evaluate(Step candidate, StepOutcome outcome, double microseconds,
                           const std::map<std::string, std::int64_t>& parameters) {
  Evaluation evaluation;
  evaluation.step = step_;
  evaluation.candidate = candidate;
  evaluation.outcome = outcome;
  evaluation.instances_timed = 1;
  if (outcome == StepOutcome::duplicate) {
    evaluation.duplicate_of = 0;
    evaluation.summary = "compiles to the same kernel as step 0";
  } else if (is_right(outcome)) {
    evaluation.objective = Nanoseconds{1e3 * microseconds};
    for (const std::string& shape : shapes_)
      evaluation.shapes.push_back({shape, Nanoseconds{1e3 * microseconds},
                                   Nanoseconds{900 * microseconds},
                                   Nanoseconds{1100 * microseconds}});
    evaluation.parameters = parameters;
    evaluation.roofline = 0.5;
  } else {
    evaluation.summary = "element 3 is off";
  }
  add(evaluation);
  ++step_;
}

Step RecordedRun::propose(const std::string& source, StepOutcome outcome, double microseconds,
                          const std::map<std::string, std::int64_t>& parameters, Step parent,
                          const std::string& title) {
  direct(SearchMode::exploit, parent);
  add(Candidate{step_, sha256_hex(source), {parent}, "playbook", title, {"gene"}, {}}, {source});
  evaluate(step_, outcome, microseconds, parameters);
  return step_ - 1;
}

Step RecordedRun::tune(Step candidate, StepOutcome outcome, double microseconds,
                       const std::map<std::string, std::int64_t>& parameters) {
  direct(SearchMode::tune, candidate);
  evaluate(candidate, outcome, microseconds, parameters);
  return step_ - 1;
}

Step RecordedRun::propose_nothing() {
  direct(SearchMode::exploit, 0);
  evaluate(step_, StepOutcome::no_proposal, 0, {});
  return step_ - 1;
}

Step RecordedRun::begin_step() {
  direct(SearchMode::exploit, 0);
  return step_++;
}

} // namespace kernevo
