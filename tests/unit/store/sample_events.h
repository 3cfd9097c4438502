// Events to put in a journal, and what is read of it.
#pragma once

#include "kernevo/base/hash.h"
#include "kernevo/store/journal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kernevo::store {

inline const std::string kTaskText = "op_name: add\n";

inline RunStarted started() {
  RunStarted event;
  event.run = "add";
  event.task_file = "task.yaml";
  event.task = sha256_hex(kTaskText);
  event.gpu = "A100";
  return event;
}

inline Directive directive(Step step) {
  Directive d;
  d.step = step;
  d.mode = step == 0 ? SearchMode::baseline : SearchMode::exploit;
  d.gate = "bandit";
  d.reason = fmt::format("the reason of step {}", step);
  if (step > 0) {
    d.parent = step - 1;
    d.proposer = "playbook";
    d.direction = "vectorize";
  }
  return d;
}

inline std::string source_of(Step step) {
  return fmt::format("// kernel of step {}\n{}", step, std::string(300, 'x'));
}
inline std::string profile_of(Step step) {
  return fmt::format("{{\"profile\": {}}}", step);
}

inline Candidate candidate(Step step) {
  Candidate c;
  c.step = step;
  c.source = sha256_hex(source_of(step));
  c.proposer = "playbook";
  c.title = fmt::format("title {}", step);
  return c;
}

inline Evaluation evaluation(Step step) {
  Evaluation e;
  e.step = step;
  e.candidate = step;
  e.outcome = step == 0 ? StepOutcome::baseline : StepOutcome::not_better;
  e.identity = fmt::format("identity {}", step);
  e.objective = Nanoseconds{1000.0 + static_cast<double>(step)};
  e.profile = sha256_hex(profile_of(step));
  e.instances_timed = 1;
  return e;
}

// Three events a step after the first event of the run.
inline void write_steps(Journal& journal, Step from, Step to) {
  if (from == 0) {
    ASSERT_TRUE(journal.append(started(), {kTaskText}));
  }
  for (Step step = from; step < to; ++step) {
    ASSERT_TRUE(journal.append(directive(step)));
    ASSERT_TRUE(journal.append(candidate(step), {source_of(step)}));
    ASSERT_TRUE(journal.remember(fmt::format("instance/{}", step), fmt::format("body {}", step)));
    ASSERT_TRUE(journal.append(evaluation(step), {profile_of(step)}, 0.5));
  }
}

inline std::vector<StoredEvent> events_of(Journal& journal, std::int64_t from = 1) {
  std::vector<StoredEvent> events;
  const auto read = journal.read(from, [&](const StoredEvent& stored) {
    events.push_back(stored);
    return true;
  });
  EXPECT_TRUE(read) << format_error(read.error());
  return events;
}

inline bool is_one_line(const Error& error) {
  return format_error(error).find('\n') == std::string::npos;
}

} // namespace kernevo::store
