// The journal of one run: a folder with one SQLite file. Events are only ever appended; sources and
// profiles are kept once, under their hash; what was expensive to find out (instances timed, checks
// passed) is remembered under a key that says all it depends on.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/run_event.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::store {

inline constexpr int kJournalFormat = 1;
inline constexpr const char* kJournalFile = "journal.sqlite";
inline constexpr const char* kFreshFile = "journal.new"; // while it is being made

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
};

// Hash -> bytes; written together with the event that refers to them.
using Blobs = std::vector<std::string>;

class Journal {
public:
  enum class Access { read, write };

  // A new run in a folder that has none.
  static Result<std::unique_ptr<Journal>> create(const std::filesystem::path& folder);
  // A clear error for a folder without a run, a newer format, a damaged file, and for writing while
  // another process does.
  static Result<std::unique_ptr<Journal>> open(const std::filesystem::path& folder, Access access);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  // The event, the index of its step and the blobs it refers to: all or nothing.
  Result<void> append(const RunEvent& event, const Blobs& blobs = {},
                      std::optional<double> seconds = std::nullopt);
  std::int64_t events() const; // how many there are

  // In order, from this number on. Stops early when the function says so.
  Result<void> read(std::int64_t from, const std::function<bool(const StoredEvent&)>& take);
  Result<std::string> blob(const std::string& hash);

  // The index.
  Result<std::vector<StepRow>> steps(Step from, std::size_t limit);
  Result<std::optional<StepRow>> step(Step step);
  // The first step before `before` whose source, or whose identity, is this.
  Result<std::optional<Step>> find_source(const std::string& hash, Step before);
  Result<std::optional<Step>> find_identity(const std::string& identity, Step before);
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
  Result<std::optional<Snapshot>> snapshot();
  Result<void> put_snapshot(const Snapshot& snapshot);

  // What is remembered; safe from several threads.
  Result<std::optional<std::string>> recall(const std::string& key);
  Result<void> remember(const std::string& key, std::string_view body);

  // Hashes of blobs no event refers to, and of blobs that are referred to and missing.
  struct BlobAudit {
    std::vector<std::string> orphans;
    std::vector<std::string> missing;
  };
  Result<BlobAudit> audit_blobs();

private:
  struct Parts;
  Journal(std::filesystem::path folder, std::unique_ptr<Parts> parts);
  Result<std::vector<RunEvent>> events_of_step(Step step, std::string_view kind);
  template <class Event>
  Result<std::optional<Event>> first_of_step(Step step, std::string_view kind);
  template <class Event> Result<std::vector<Event>> all_of_step(Step step, std::string_view kind);

  std::filesystem::path folder_;
  std::unique_ptr<Parts> parts_;
  mutable std::mutex mutex_;
};

struct Repair {
  std::int64_t kept = 0;       // events
  std::filesystem::path aside; // where the damaged file went; empty when nothing is damaged
};

// Keeps every event before the first damaged one, or the first candidate whose source is lost, in a
// new file, and moves the damaged one aside. A file of which nothing can be kept stays as it is.
Result<Repair> repair_journal(const std::filesystem::path& folder);

} // namespace kernevo::store
