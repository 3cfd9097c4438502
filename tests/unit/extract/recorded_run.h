// A run written down by hand, for tests that read it back.
#pragma once

#include "memory_store.h"

#include <map>
#include <string>

namespace kernevo {

class RecordedRun {
public:
  // Begins with the task and its reference, timed.
  RecordedRun(std::string task_text, const std::string& reference,
              const std::map<std::string, std::int64_t>& parameters = {});

  // A step that proposes this source and comes to that; returns its number. The time of what is
  // right is `microseconds` at every shape.
  Step propose(const std::string& source, StepOutcome outcome, double microseconds,
               const std::map<std::string, std::int64_t>& parameters = {}, Step parent = 0,
               const std::string& title = "Another kernel.");
  // A step that searched the parameters of a known candidate.
  Step tune(Step candidate, StepOutcome outcome, double microseconds,
            const std::map<std::string, std::int64_t>& parameters);
  Step propose_nothing();
  Step begin_step(); // without an end

  store::Journal& journal() { return *journal_; }

private:
  void add(const RunEvent& event, const store::Blobs& blobs = {});
  void direct(SearchMode mode, std::optional<Step> parent);
  void evaluate(Step candidate, StepOutcome outcome, double microseconds,
                const std::map<std::string, std::int64_t>& parameters);

  store::MemoryStore store_;
  std::unique_ptr<store::Journal> journal_;
  std::vector<std::string> shapes_;
  Step step_ = 0;
};

} // namespace kernevo
