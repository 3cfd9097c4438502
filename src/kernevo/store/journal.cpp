#include "kernevo/store/journal.h"

#include "kernevo/base/hash.h"
#include "kernevo/store/journal_tables.h"
#include "kernevo/store/run_lock.h"

#include <chrono>
#include <fmt/format.h>
#include <set>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;

// Safe against the end of the process at any moment; what a power cut may lose is the tail of the
// events, never the order.
// Every so many pages (32 MB) the disk is waited for.
constexpr const char* kSettings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                                  "PRAGMA wal_autocheckpoint=8000;";

std::int64_t now_milliseconds() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

tl::unexpected<Error> damaged(const fs::path& file, std::int64_t number, const fs::path& folder) {
  return fail(ErrorCode::input,
              fmt::format("event {} is damaged; the {} before it are whole", number, number - 1),
              Place{file.string()},
              fmt::format("'kernevo runs --repair {}' keeps those and puts the damaged file aside",
                          folder.string()));
}

StepRow read_row(const Statement& row) {
  const auto optional_step = [&](int column) {
    return row.is_null(column) ? std::nullopt
                               : std::optional(static_cast<Step>(row.integer(column)));
  };
  return {static_cast<Step>(row.integer(0)),
          row.text(1),
          row.text(2),
          row.text(3),
          optional_step(4),
          row.text(5),
          row.text(6),
          row.text(7),
          row.text(8),
          row.is_null(9) ? std::nullopt : std::optional(row.real(9)),
          row.text(10)};
}

constexpr const char* kRowColumns = "step, mode, proposer, direction, parent, source, title, "
                                    "identity, outcome, objective_ns, summary";

} // namespace

struct Journal::Parts {
  std::optional<RunLock> lock;
  JournalTables tables;
  std::int64_t events = 0;

  Parts(std::optional<RunLock> held, std::unique_ptr<Database> database)
      : lock(std::move(held)), tables(std::move(database)) {}
  Database& database() { return tables.database(); }
  Result<Statement*> statement(const std::string& sql) { return tables.statement(sql); }
};

Journal::Journal(fs::path folder, std::unique_ptr<Parts> parts)
    : folder_(std::move(folder)), parts_(std::move(parts)) {}

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::create(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(),
                Place{folder.string()}, "give --out a folder you may write");
  if (fs::exists(folder / kJournalFile, problem))
    return fail(ErrorCode::usage, "holds a run already", Place{folder.string()},
                "go on with it (--resume), or name another (--name, --out)");
  KERNEVO_TRY(lock, RunLock::take(folder));
  // Made under another name, so that a run without its tables is never seen.
  const fs::path fresh = folder / kFreshFile;
  remove_database(fresh);
  {
    KERNEVO_TRY(database, Database::open(fresh, Database::Mode::create));
    KERNEVO_CHECK(create_tables(*database));
  }
  fs::rename(fresh, folder / kJournalFile, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(),
                Place{(folder / kJournalFile).string()});
  KERNEVO_TRY(database, Database::open(folder / kJournalFile, Database::Mode::write));
  KERNEVO_CHECK(database->execute(kSettings));
  return std::unique_ptr<Journal>(
      new Journal(folder, std::make_unique<Parts>(std::move(lock), std::move(database))));
}

Result<std::unique_ptr<Journal>> Journal::open(const fs::path& folder, Access access) {
  const fs::path file = folder / kJournalFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return fail(ErrorCode::usage, "holds no run", Place{folder.string()},
                "'kernevo runs' lists those there are");
  std::optional<RunLock> held;
  if (access == Access::write) {
    KERNEVO_TRY(lock, RunLock::take(folder));
    held.emplace(std::move(lock));
  }
  KERNEVO_TRY(database, Database::open(file, access == Access::write ? Database::Mode::write
                                                                     : Database::Mode::read));
  KERNEVO_CHECK(check_format(*database));
  if (access == Access::write)
    KERNEVO_CHECK(database->execute(kSettings));
  auto parts = std::make_unique<Parts>(std::move(held), std::move(database));
  KERNEVO_TRY(count, parts->statement("SELECT coalesce(max(number), 0) FROM events"));
  KERNEVO_CHECK(count->step());
  parts->events = count->integer(0);
  count->reset();
  return std::unique_ptr<Journal>(new Journal(folder, std::move(parts)));
}

Result<void> Journal::append(const RunEvent& event, const Blobs& blobs,
                             std::optional<double> seconds) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(transaction, Transaction::begin(parts_->database()));
  for (const std::string& body : blobs)
    KERNEVO_CHECK(parts_->tables.insert_blob(sha256_hex(body), body));
  KERNEVO_CHECK(
      parts_->tables.insert_event({parts_->events + 1, now_milliseconds(), seconds, event}));
  KERNEVO_CHECK(transaction.commit());
  ++parts_->events;
  return {};
}

std::int64_t Journal::events() const {
  const std::lock_guard lock(mutex_);
  return parts_->events;
}

Result<void> Journal::read(std::int64_t from, const std::function<bool(const StoredEvent&)>& take) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(first_damaged, parts_->tables.read_events(from, take));
  if (first_damaged > 0)
    return damaged(folder_ / kJournalFile, first_damaged, folder_);
  return {};
}

Result<std::string> Journal::blob(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, parts_->statement("SELECT body FROM blobs WHERE hash=?"));
  row->bind(1, std::string_view(hash));
  KERNEVO_TRY(found, row->step());
  if (!found)
    return fail(ErrorCode::input, fmt::format("blob {} is missing", hash.substr(0, 12)),
                Place{(folder_ / kJournalFile).string()});
  std::string body = row->text(0);
  row->reset();
  if (sha256_hex(body) != hash)
    return fail(ErrorCode::input, fmt::format("blob {} is damaged", hash.substr(0, 12)),
                Place{(folder_ / kJournalFile).string()});
  return body;
}

Result<std::vector<StepRow>> Journal::steps(Step from, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(rows,
              parts_->statement(fmt::format(
                  "SELECT {} FROM steps WHERE step >= ? ORDER BY step LIMIT ?", kRowColumns)));
  rows->bind(1, static_cast<std::int64_t>(from)).bind(2, static_cast<std::int64_t>(limit));
  std::vector<StepRow> result;
  while (true) {
    KERNEVO_TRY(more, rows->step());
    if (!more)
      break;
    result.push_back(read_row(*rows));
  }
  rows->reset();
  return result;
}

Result<std::optional<StepRow>> Journal::step(Step step) {
  KERNEVO_TRY(rows, steps(step, 1));
  if (rows.empty() || rows.front().step != step)
    return std::nullopt;
  return std::optional(std::move(rows.front()));
}

namespace {

Result<std::optional<Step>> first_step(Statement& statement, const std::string& value,
                                       Step before) {
  statement.bind(1, std::string_view(value)).bind(2, static_cast<std::int64_t>(before));
  KERNEVO_TRY(found, statement.step());
  const std::optional<Step> step =
      found ? std::optional(static_cast<Step>(statement.integer(0))) : std::nullopt;
  statement.reset();
  return step;
}

} // namespace

Result<std::optional<Step>> Journal::find_source(const std::string& hash, Step before) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(query, parts_->statement("SELECT step FROM steps WHERE source=? AND step<? "
                                       "ORDER BY step LIMIT 1"));
  return first_step(*query, hash, before);
}

Result<std::optional<Step>> Journal::find_identity(const std::string& identity, Step before) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(query, parts_->statement("SELECT step FROM steps WHERE identity=? AND step<? "
                                       "ORDER BY step LIMIT 1"));
  return first_step(*query, identity, before);
}

Result<std::vector<RunEvent>> Journal::events_of_step(Step step, std::string_view kind) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, parts_->statement("SELECT number, body, checksum FROM events "
                                     "WHERE step=? AND kind=? ORDER BY number"));
  row->bind(1, static_cast<std::int64_t>(step)).bind(2, kind);
  std::vector<RunEvent> events;
  for (;;) {
    KERNEVO_TRY(found, row->step());
    if (!found)
      break;
    const std::int64_t number = row->integer(0);
    const std::string body = row->text(1);
    auto event = row->integer(2) == checksum(kind, body)
                     ? event_from_json(kind, body)
                     : Result<RunEvent>(damaged(folder_ / kJournalFile, number, folder_));
    if (!event) {
      row->reset();
      return tl::unexpected<Error>(event.error());
    }
    events.push_back(std::move(*event));
  }
  row->reset();
  return events;
}

template <class Event>
Result<std::optional<Event>> Journal::first_of_step(Step step, std::string_view kind) {
  KERNEVO_TRY(events, events_of_step(step, kind));
  return events.empty() ? std::nullopt : std::optional(std::get<Event>(std::move(events.front())));
}

template <class Event>
Result<std::vector<Event>> Journal::all_of_step(Step step, std::string_view kind) {
  KERNEVO_TRY(events, events_of_step(step, kind));
  std::vector<Event> all;
  for (RunEvent& event : events)
    all.push_back(std::get<Event>(std::move(event)));
  return all;
}

Result<std::optional<Evaluation>> Journal::evaluation(Step step) {
  return first_of_step<Evaluation>(step, "evaluation");
}

Result<std::optional<Candidate>> Journal::candidate(Step step) {
  return first_of_step<Candidate>(step, "candidate");
}

Result<std::optional<Directive>> Journal::directive(Step step) {
  return first_of_step<Directive>(step, "directive");
}

Result<std::vector<Attempt>> Journal::attempts(Step step) {
  return all_of_step<Attempt>(step, "attempt");
}

Result<std::vector<ModelCall>> Journal::calls(Step step) {
  return all_of_step<ModelCall>(step, "model_call");
}

Result<std::optional<Journal::Snapshot>> Journal::snapshot() {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, parts_->statement("SELECT number, body, checksum FROM snapshots "
                                     "ORDER BY number DESC LIMIT 1"));
  KERNEVO_TRY(found, row->step());
  if (!found)
    return std::nullopt;
  Snapshot snapshot{row->integer(0), row->text(1)};
  const bool whole = row->integer(2) == checksum("snapshot", snapshot.body);
  row->reset();
  if (!whole || snapshot.number > parts_->events)
    return std::nullopt; // the events say the same
  return std::optional(std::move(snapshot));
}

Result<void> Journal::put_snapshot(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(transaction, Transaction::begin(parts_->database()));
  KERNEVO_CHECK(parts_->database().execute("DELETE FROM snapshots"));
  KERNEVO_TRY(insert, parts_->statement("INSERT INTO snapshots VALUES(?,?,?)"));
  insert->bind(1, snapshot.number)
      .bind(2, std::string_view(snapshot.body))
      .bind(3, checksum("snapshot", snapshot.body));
  KERNEVO_CHECK(insert->run());
  return transaction.commit();
}

Result<std::optional<std::string>> Journal::recall(const std::string& key) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, parts_->statement("SELECT body, checksum FROM memo WHERE key=?"));
  row->bind(1, std::string_view(key));
  KERNEVO_TRY(found, row->step());
  if (!found)
    return std::nullopt;
  std::string body = row->text(0);
  const bool whole = row->integer(1) == checksum(key, body);
  row->reset();
  if (whole)
    return std::optional(std::move(body));
  // Damaged: to be found out again.
  KERNEVO_TRY(forget, parts_->statement("DELETE FROM memo WHERE key=?"));
  forget->bind(1, std::string_view(key));
  KERNEVO_CHECK(forget->run());
  return std::nullopt;
}

Result<void> Journal::remember(const std::string& key, std::string_view body) {
  const std::lock_guard lock(mutex_);
  return parts_->tables.insert_memo(key, body);
}

Result<Journal::BlobAudit> Journal::audit_blobs() {
  std::set<std::string> wanted;
  KERNEVO_CHECK(read(1, [&](const StoredEvent& stored) {
    if (std::string hash = reference_of(stored.event); !hash.empty())
      wanted.insert(std::move(hash));
    return true;
  }));
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(rows, parts_->statement("SELECT hash FROM blobs"));
  BlobAudit audit;
  while (true) {
    KERNEVO_TRY(more, rows->step());
    if (!more)
      break;
    const std::string hash = rows->text(0);
    if (wanted.erase(hash) == 0)
      audit.orphans.push_back(hash);
  }
  rows->reset();
  audit.missing.assign(wanted.begin(), wanted.end());
  return audit;
}

} // namespace kernevo::store
