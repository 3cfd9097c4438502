#include "kernevo/store/sqlite_journal.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;

// Safe against the end of the process at any moment; what a power cut may lose is the tail of the
// events, never the order.
// Every so many pages (32 MB) the disk is waited for.
constexpr const char* kSettings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                                  "PRAGMA wal_autocheckpoint=8000;";

constexpr const char* kRowColumns = "step, mode, proposer, direction, parent, source, title, "
                                    "identity, outcome, objective_ns, summary";

tl::unexpected<Error> damaged(const fs::path& folder, std::int64_t number) {
  return fail(ErrorCode::input,
              fmt::format("event {} is damaged; the {} before it are whole", number, number - 1),
              Place{(folder / kJournalFile).string()},
              fmt::format("'kernevo runs --repair {}' keeps those and puts the damaged file aside",
                          folder.string()));
}

// A bound in a query: beyond what SQLite counts there are no steps.
std::int64_t bound_of(std::uint64_t number) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(number, kMost));
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

Result<std::optional<Step>> first_step(Statement& statement, const std::string& value,
                                       Step before) {
  statement.bind(1, std::string_view(value)).bind(2, bound_of(before));
  KERNEVO_TRY(found, statement.step());
  const std::optional<Step> step =
      found ? std::optional(static_cast<Step>(statement.integer(0))) : std::nullopt;
  statement.reset();
  return step;
}

} // namespace

bool holds_sqlite_journal(const std::string& folder) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / kJournalFile, ignored);
}

void discard_sqlite_journal(const std::string& folder) {
  for (const char* file : {kJournalFile, kFreshFile})
    remove_database(fs::path(folder) / file);
  std::error_code ignored;
  fs::remove(fs::path(folder) / kLockFile, ignored);
}

SqliteJournal::SqliteJournal(const std::string& folder, std::optional<RunLock> lock,
                             std::unique_ptr<Database> database)
    : Journal(folder, folder), lock_(std::move(lock)), tables_(std::move(database)) {}

Result<std::unique_ptr<Journal>> SqliteJournal::create(const std::string& location) {
  const fs::path folder = location;
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(), Place{location},
                "give --out a folder you may write");
  if (holds_sqlite_journal(location))
    return fail(ErrorCode::usage, "holds a run already", Place{location},
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
      new SqliteJournal(location, std::move(lock), std::move(database)));
}

Result<std::unique_ptr<Journal>> SqliteJournal::open(const std::string& location, Access access) {
  const fs::path folder = location;
  if (!holds_sqlite_journal(location))
    return fail(ErrorCode::usage, "holds no run", Place{location},
                "'kernevo runs' lists those there are");
  std::optional<RunLock> held;
  if (access == Access::write) {
    KERNEVO_TRY(lock, RunLock::take(folder));
    held.emplace(std::move(lock));
  }
  KERNEVO_TRY(database, Database::open(folder / kJournalFile, access == Access::write
                                                                  ? Database::Mode::write
                                                                  : Database::Mode::read));
  KERNEVO_CHECK(check_format(*database));
  if (access == Access::write)
    KERNEVO_CHECK(database->execute(kSettings));
  std::unique_ptr<SqliteJournal> journal(
      new SqliteJournal(location, std::move(held), std::move(database)));
  KERNEVO_TRY(count, journal->tables_.statement("SELECT coalesce(max(number), 0) FROM events"));
  KERNEVO_CHECK(count->step());
  journal->events_ = count->integer(0);
  count->reset();
  return journal;
}

Result<void> SqliteJournal::commit(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(transaction, Transaction::begin(tables_.database()));
  for (const auto& [hash, body] : entry.blobs)
    KERNEVO_CHECK(tables_.insert_blob(hash, body));
  KERNEVO_CHECK(
      tables_.insert_event({events_ + 1, entry.milliseconds, entry.seconds, entry.event}));
  KERNEVO_CHECK(transaction.commit());
  ++events_;
  return {};
}

std::int64_t SqliteJournal::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

Result<void> SqliteJournal::read(std::int64_t from,
                                 const std::function<bool(const StoredEvent&)>& take) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(first_damaged, tables_.read_events(from, take));
  if (first_damaged > 0)
    return damaged(folder(), first_damaged);
  return {};
}

Result<std::optional<std::string>> SqliteJournal::load_blob(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, tables_.statement("SELECT body FROM blobs WHERE hash=?"));
  row->bind(1, std::string_view(hash));
  KERNEVO_TRY(found, row->step());
  if (!found)
    return std::nullopt;
  std::string body = row->text(0);
  row->reset();
  return std::optional(std::move(body));
}

Result<std::vector<std::string>> SqliteJournal::column(const std::string& sql) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(rows, tables_.statement(sql));
  std::vector<std::string> values;
  while (true) {
    KERNEVO_TRY(more, rows->step());
    if (!more)
      break;
    values.push_back(rows->text(0));
  }
  rows->reset();
  return values;
}

Result<std::vector<std::string>> SqliteJournal::blob_hashes() {
  return column("SELECT hash FROM blobs");
}

Result<std::vector<std::string>> SqliteJournal::remembered() {
  return column("SELECT key FROM memo ORDER BY key");
}

Result<std::vector<StepRow>> SqliteJournal::steps(Step from, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(rows,
              tables_.statement(fmt::format(
                  "SELECT {} FROM steps WHERE step >= ? ORDER BY step LIMIT ?", kRowColumns)));
  rows->bind(1, bound_of(from)).bind(2, bound_of(limit));
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

Result<std::optional<Step>> SqliteJournal::find_source(const std::string& hash, Step before) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(query, tables_.statement("SELECT step FROM steps WHERE source=? AND step<? "
                                       "ORDER BY step LIMIT 1"));
  return first_step(*query, hash, before);
}

Result<std::optional<Step>> SqliteJournal::find_identity(const std::string& identity, Step before) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(query, tables_.statement("SELECT step FROM steps WHERE identity=? AND step<? "
                                       "ORDER BY step LIMIT 1"));
  return first_step(*query, identity, before);
}

Result<std::vector<RunEvent>> SqliteJournal::events_of_step(Step step, std::string_view kind) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, tables_.statement("SELECT number, body, checksum FROM events "
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
                     : Result<RunEvent>(damaged(folder(), number));
    if (!event) {
      row->reset();
      return tl::unexpected<Error>(event.error());
    }
    events.push_back(std::move(*event));
  }
  row->reset();
  return events;
}

Result<std::optional<Journal::Snapshot>> SqliteJournal::snapshot() {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, tables_.statement("SELECT number, body, checksum FROM snapshots "
                                     "ORDER BY number DESC LIMIT 1"));
  KERNEVO_TRY(found, row->step());
  if (!found)
    return std::nullopt;
  Snapshot snapshot{row->integer(0), row->text(1)};
  const bool whole = row->integer(2) == checksum("snapshot", snapshot.body);
  row->reset();
  if (!whole || snapshot.number > events_)
    return std::nullopt; // the events say the same
  return std::optional(std::move(snapshot));
}

Result<void> SqliteJournal::put_snapshot(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(transaction, Transaction::begin(tables_.database()));
  KERNEVO_CHECK(tables_.database().execute("DELETE FROM snapshots"));
  KERNEVO_TRY(insert, tables_.statement("INSERT INTO snapshots VALUES(?,?,?)"));
  insert->bind(1, snapshot.number)
      .bind(2, std::string_view(snapshot.body))
      .bind(3, checksum("snapshot", snapshot.body));
  KERNEVO_CHECK(insert->run());
  return transaction.commit();
}

Result<std::optional<std::string>> SqliteJournal::recall(const std::string& key) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, tables_.statement("SELECT body, checksum FROM memo WHERE key=?"));
  row->bind(1, std::string_view(key));
  KERNEVO_TRY(found, row->step());
  if (!found)
    return std::nullopt;
  std::string body = row->text(0);
  const bool whole = row->integer(1) == checksum(key, body);
  row->reset();
  if (whole)
    return std::optional(std::move(body));
  if (!lock_)
    return std::nullopt;
  // Damaged: to be found out again.
  KERNEVO_TRY(forget, tables_.statement("DELETE FROM memo WHERE key=?"));
  forget->bind(1, std::string_view(key));
  KERNEVO_CHECK(forget->run());
  return std::nullopt;
}

Result<void> SqliteJournal::remember(const std::string& key, std::string_view body) {
  const std::lock_guard lock(mutex_);
  return tables_.insert_memo(key, body);
}

} // namespace kernevo::store
