// The journal of one run, whatever keeps it. Events are only ever appended; sources and profiles
// are kept once, under their hash; what was expensive to find out (instances timed, checks passed)
// is remembered under a key that says all it depends on. tests/unit/store/conformance.h is what
// every implementation must pass; open_journal.h opens one.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/run_event.h"
#include "kernevo/store/memo.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::store {

struct StoredEvent {
  std::int64_t number = 0;       // from 1, without gaps
  std::int64_t milliseconds = 0; // since 1970
  std::optional<double> seconds; // how long what it tells of took
  RunEvent event;
};

// One line of the index: what lists and look-ups need of a step without reading events.
struct StepRow {
  Step step = 0;
  std::string mode;
  std::string proposer;
  std::string direction;
  std::optional<Step> parent;
  std::string source; // hash; empty when nothing was proposed
  std::string title;
  std::string identity; // empty until it is evaluated, or when it did not compile
  std::string outcome;  // empty until it is evaluated
  std::optional<double> objective_ns;
  std::string summary;

  bool operator==(const StepRow&) const = default;
};

// Written together with the event that refers to them by their hashes.
using Blobs = std::vector<std::string>;

// The hash of the source, the profile or the task an event refers to; empty when it has none.
std::string reference_of(const RunEvent& event);

// Safe from several threads. One writer per run, any number of readers beside it.
class Journal : public Memo {
public:
  enum class Access { read, write };

  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Where it was opened: tells people which run it is.
  const std::string& location() const { return location_; }
  // Where what is written about the run belongs: its report, its traces.
  const std::filesystem::path& folder() const { return folder_; }

  // The event, the index of its step and the blobs it refers to: all or nothing. A step is decided
  // once: a second directive for it is refused.
  Result<void> append(const RunEvent& event, const Blobs& blobs = {},
                      std::optional<double> seconds = std::nullopt);
  // How many there are; to a reader, when it was opened at least.
  virtual std::int64_t events() const = 0;

  // In order, from this number on. Stops early when the function says so, which must not use the
  // journal itself.
  virtual Result<void> read(std::int64_t from,
                            const std::function<bool(const StoredEvent&)>& take) = 0;
  // An error when it is missing, or is not what its hash says.
  Result<std::string> blob(const std::string& hash);

  // The index, in the order of the steps.
  virtual Result<std::vector<StepRow>> steps(Step from, std::size_t limit) = 0;
  Result<std::optional<StepRow>> step(Step step);
  // The first step before `before` whose source, or whose identity, is this.
  virtual Result<std::optional<Step>> find_source(const std::string& hash, Step before) = 0;
  virtual Result<std::optional<Step>> find_identity(const std::string& identity, Step before) = 0;
  // The evaluation of a step, and what was asked for; absent when there is none.
  Result<std::optional<Evaluation>> evaluation(Step step);
  Result<std::optional<Candidate>> candidate(Step step);
  Result<std::optional<Directive>> directive(Step step);
  // What was not right before it was mended, and the models asked, in their order.
  Result<std::vector<Attempt>> attempts(Step step);
  Result<std::vector<ModelCall>> calls(Step step);

  // The latest stored fold of the events up to `number`, if there is one and it is whole.
  struct Snapshot {
    std::int64_t number = 0;
    std::string body;
  };
  virtual Result<std::optional<Snapshot>> snapshot() = 0;
  // Replaces the one before.
  virtual Result<void> put_snapshot(const Snapshot& snapshot) = 0;

  // Hashes of blobs no event refers to, and of blobs that are referred to and missing.
  struct BlobAudit {
    std::vector<std::string> orphans;
    std::vector<std::string> missing;
  };
  Result<BlobAudit> audit_blobs();
  // The keys under which something is remembered, sorted.
  virtual Result<std::vector<std::string>> remembered() = 0;

protected:
  Journal(std::string location, std::filesystem::path folder)
      : location_(std::move(location)), folder_(std::move(folder)) {}

  struct Entry {
    std::int64_t milliseconds = 0;
    std::optional<double> seconds;
    const RunEvent& event;
    std::vector<std::pair<std::string, std::string_view>> blobs; // hash, body
  };
  // One transaction.
  virtual Result<void> commit(const Entry& entry) = 0;
  virtual Result<std::optional<std::string>> load_blob(const std::string& hash) = 0;
  virtual Result<std::vector<std::string>> blob_hashes() = 0;
  // In their order.
  virtual Result<std::vector<RunEvent>> events_of_step(Step step, std::string_view kind) = 0;

private:
  template <class Event>
  Result<std::optional<Event>> first_of_step(Step step, std::string_view kind);
  template <class Event> Result<std::vector<Event>> all_of_step(Step step, std::string_view kind);

  std::string location_;
  std::filesystem::path folder_;
};

} // namespace kernevo::store
