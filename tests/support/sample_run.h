// Runs made up for tests: a journal written event by event.
#pragma once

#include "kernevo/store/journal.h"
#include "test_folder.h"

#include <filesystem>
#include <memory>
#include <string>

namespace kernevo::report {

class SampleRun {
public:
  // A new run in a folder of its own, with its baseline unless not wanted.
  explicit SampleRun(const std::string& name, bool baseline = true);

  store::Journal& journal() { return *journal_; }
  const std::filesystem::path& folder() const { return folder_; }

  void append(const RunEvent& event, const store::Blobs& blobs = {},
              std::optional<double> seconds = std::nullopt);

  // The next step in one go; `parent` is changed by a kernel of this text.
  Step candidate(Step parent, StepOutcome outcome, std::optional<double> microseconds,
                 const std::string& source = "", const std::string& title = "",
                 std::uint64_t tokens = 0);
  Step tune(Step candidate, StepOutcome outcome, double microseconds);
  // Decided, not told.
  Step open(Step parent);
  void stop();

private:
  const TestFolder made_;
  std::filesystem::path folder_;
  std::unique_ptr<store::Journal> journal_;
  Step next_ = 0;
};

// A right or a wrong result.
Evaluation made_up_evaluation(Step step, Step candidate, StepOutcome outcome,
                              std::optional<double> microseconds);

} // namespace kernevo::report
