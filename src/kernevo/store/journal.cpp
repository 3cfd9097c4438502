#include "kernevo/store/journal.h"

#include "kernevo/base/hash.h"
#include "kernevo/store/run_lock.h"
#include "kernevo/store/sqlite.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <set>
#include <zlib.h>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events(number INTEGER PRIMARY KEY, at INTEGER NOT NULL, seconds REAL, kind TEXT NOT NULL,
                    step INTEGER NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX events_of_step ON events(step, kind);
CREATE TABLE steps(step INTEGER PRIMARY KEY, mode TEXT NOT NULL DEFAULT '', proposer TEXT NOT NULL DEFAULT '',
                   direction TEXT NOT NULL DEFAULT '', parent INTEGER, source TEXT NOT NULL DEFAULT '',
                   title TEXT NOT NULL DEFAULT '', identity TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '',
                   objective_ns REAL, summary TEXT NOT NULL DEFAULT '');
CREATE INDEX steps_by_source ON steps(source, step);
CREATE INDEX steps_by_identity ON steps(identity, step);
CREATE TABLE blobs(hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE memo(key TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshots(number INTEGER PRIMARY KEY, body TEXT NOT NULL);
)";

// Safe against the end of the process at any moment; what a power cut may lose is the tail of the
// events, never the order.
constexpr const char* kSettings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;";

std::int64_t checksum(std::string_view kind, std::string_view body) {
  uLong sum = crc32(0, nullptr, 0);
  for (const std::string_view part : {kind, body})
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size()); // NOLINT
  return static_cast<std::int64_t>(sum);
}

std::int64_t now_milliseconds() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<std::int64_t> as_integer(const std::optional<Step>& step) {
  return step ? std::optional(static_cast<std::int64_t>(*step)) : std::nullopt;
}

tl::unexpected<Error> damaged(const fs::path& file, std::int64_t number, const fs::path& folder) {
  return fail(ErrorCode::input,
              fmt::format("event {} is damaged; the {} before it are whole", number, number - 1),
              Place{file.string()},
              fmt::format("'kernevo runs --repair {}' keeps those and puts the damaged file aside",
                          folder.string()));
}

// Hashes an event refers to.
std::vector<std::string> references(const RunEvent& event) {
  if (const auto* started = std::get_if<RunStarted>(&event))
    return {started->task};
  if (const auto* candidate = std::get_if<Candidate>(&event))
    return {candidate->source};
  if (const auto* evaluation = std::get_if<Evaluation>(&event);
      evaluation != nullptr && !evaluation->profile.empty())
    return {evaluation->profile};
  return {};
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
  std::unique_ptr<Database> database;
  std::map<std::string, Statement> statements; // by their text
  std::int64_t events = 0;

  Result<Statement*> statement(const std::string& sql) {
    auto found = statements.find(sql);
    if (found == statements.end()) {
      KERNEVO_TRY(prepared, database->prepare(sql));
      found = statements.emplace(sql, std::move(prepared)).first;
    }
    found->second.reset();
    return &found->second;
  }

  Result<void> insert_event(const RunEvent& event, std::int64_t at,
                            const std::optional<double>& seconds);
  Result<void> insert_blobs(const Blobs& blobs);
  Result<void> index(const RunEvent& event);
};

Result<void> Journal::Parts::insert_event(const RunEvent& event, std::int64_t at,
                                          const std::optional<double>& seconds) {
  const std::string body = to_json(event);
  KERNEVO_TRY(insert, statement("INSERT INTO events VALUES(?,?,?,?,?,?,?)"));
  insert->bind(1, events + 1)
      .bind(2, at)
      .bind(3, seconds)
      .bind(4, kind_of(event))
      .bind(5, static_cast<std::int64_t>(step_of(event)))
      .bind(6, std::string_view(body))
      .bind(7, checksum(kind_of(event), body));
  return insert->run();
}

Result<void> Journal::Parts::insert_blobs(const Blobs& blobs) {
  for (const std::string& body : blobs) {
    KERNEVO_TRY(insert, statement("INSERT OR IGNORE INTO blobs VALUES(?,?)"));
    insert->bind(1, std::string_view(sha256_hex(body))).bind(2, std::string_view(body));
    KERNEVO_CHECK(insert->run());
  }
  return {};
}

Result<void> Journal::Parts::index(const RunEvent& event) {
  if (const auto* d = std::get_if<Directive>(&event)) {
    KERNEVO_TRY(insert, statement("INSERT INTO steps(step, mode, proposer, direction, parent) "
                                  "VALUES(?,?,?,?,?)"));
    insert->bind(1, static_cast<std::int64_t>(d->step))
        .bind(2, name_of(d->mode))
        .bind(3, std::string_view(d->proposer))
        .bind(4, std::string_view(d->direction))
        .bind(5, as_integer(d->parent));
    return insert->run();
  }
  if (const auto* c = std::get_if<Candidate>(&event)) {
    KERNEVO_TRY(update, statement("UPDATE steps SET source=?, title=? WHERE step=?"));
    update->bind(1, std::string_view(c->source))
        .bind(2, std::string_view(c->title))
        .bind(3, static_cast<std::int64_t>(c->step));
    return update->run();
  }
  if (const auto* e = std::get_if<Evaluation>(&event)) {
    KERNEVO_TRY(update, statement("UPDATE steps SET identity=?, outcome=?, objective_ns=?, "
                                  "summary=? WHERE step=?"));
    update->bind(1, std::string_view(e->identity))
        .bind(2, name_of(e->outcome))
        .bind(3, e->objective ? std::optional(e->objective->value) : std::nullopt)
        .bind(4, std::string_view(e->summary))
        .bind(5, static_cast<std::int64_t>(e->step));
    return update->run();
  }
  return {};
}

Journal::Journal(fs::path folder, std::unique_ptr<Parts> parts)
    : folder_(std::move(folder)), parts_(std::move(parts)) {}

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::create(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(),
                Place{folder.string()}, "give --out a folder you may write");
  auto parts = std::make_unique<Parts>();
  KERNEVO_TRY(lock, RunLock::take(folder));
  parts->lock.emplace(std::move(lock));
  if (fs::exists(folder / kJournalFile, problem))
    return fail(ErrorCode::usage, "holds a run already", Place{folder.string()},
                "go on with it (--resume), or name another (--name, --out)");
  // Made under another name, so that a run without its tables is never seen.
  const fs::path fresh = folder / "journal.new";
  for (const char* suffix : {"", "-wal", "-shm"})
    fs::remove(fresh.string() + suffix, problem);
  {
    KERNEVO_TRY(database, Database::open(fresh, Database::Mode::create));
    KERNEVO_CHECK(database->execute(kSchema));
    KERNEVO_CHECK(
        database->execute(fmt::format("INSERT INTO meta VALUES('format','{}')", kJournalFormat)));
  }
  fs::rename(fresh, folder / kJournalFile, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(),
                Place{(folder / kJournalFile).string()});
  KERNEVO_TRY(database, Database::open(folder / kJournalFile, Database::Mode::write));
  parts->database = std::move(database);
  KERNEVO_CHECK(parts->database->execute(kSettings));
  return std::unique_ptr<Journal>(new Journal(folder, std::move(parts)));
}

Result<std::unique_ptr<Journal>> Journal::open(const fs::path& folder, Access access) {
  const fs::path file = folder / kJournalFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return fail(ErrorCode::usage, "holds no run", Place{folder.string()},
                "'kernevo runs' lists those there are");
  auto parts = std::make_unique<Parts>();
  if (access == Access::write) {
    KERNEVO_TRY(lock, RunLock::take(folder));
    parts->lock.emplace(std::move(lock));
  }
  KERNEVO_TRY(database, Database::open(file, access == Access::write ? Database::Mode::write
                                                                     : Database::Mode::read));
  parts->database = std::move(database);
  const auto as_damage = [&](Error error) {
    if (parts->database->damaged())
      error.fix = fmt::format("'kernevo runs --repair {}' keeps what can be read", folder.string());
    return tl::unexpected<Error>(std::move(error));
  };
  auto format = parts->statement("SELECT value FROM meta WHERE key='format'");
  if (!format)
    return as_damage(format.error());
  auto found = (*format)->step();
  if (!found)
    return as_damage(found.error());
  const int version = *found ? std::atoi((*format)->text(0).c_str()) : 0;
  (*format)->reset();
  if (version > kJournalFormat)
    return fail(ErrorCode::unsupported,
                fmt::format("was written by a newer kernevo (format {}, this one reads up to {})",
                            version, kJournalFormat),
                Place{file.string()}, "use that version; nothing was changed");
  if (access == Access::write)
    KERNEVO_CHECK(parts->database->execute(kSettings));
  auto count = parts->statement("SELECT coalesce(max(number), 0) FROM events");
  if (!count)
    return as_damage(count.error());
  if (auto row = (*count)->step(); !row)
    return as_damage(row.error());
  parts->events = (*count)->integer(0);
  (*count)->reset();
  return std::unique_ptr<Journal>(new Journal(folder, std::move(parts)));
}

Result<void> Journal::append(const RunEvent& event, const Blobs& blobs,
                             std::optional<double> seconds) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(transaction, Transaction::begin(*parts_->database));
  KERNEVO_CHECK(parts_->insert_blobs(blobs));
  KERNEVO_CHECK(parts_->insert_event(event, now_milliseconds(), seconds));
  KERNEVO_CHECK(parts_->index(event));
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
  KERNEVO_TRY(rows, parts_->statement("SELECT number, at, seconds, kind, body, checksum FROM "
                                      "events WHERE number >= ? ORDER BY number"));
  rows->bind(1, from);
  std::int64_t expected = from;
  while (true) {
    auto more = rows->step();
    if (!more && parts_->database->damaged())
      return damaged(folder_ / kJournalFile, expected, folder_);
    if (!more)
      return tl::unexpected<Error>(more.error());
    if (!*more)
      break;
    const std::string kind = rows->text(3);
    const std::string body = rows->text(4);
    if (rows->integer(0) != expected || rows->integer(5) != checksum(kind, body))
      return damaged(folder_ / kJournalFile, expected, folder_);
    KERNEVO_TRY(event, event_from_json(kind, body));
    const StoredEvent stored{rows->integer(0), rows->integer(1),
                             rows->is_null(2) ? std::nullopt : std::optional(rows->real(2)),
                             std::move(event)};
    ++expected;
    if (!take(stored))
      break;
  }
  rows->reset();
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

Result<std::optional<RunEvent>> Journal::event_of_step(Step step, std::string_view kind) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, parts_->statement("SELECT body FROM events WHERE step=? AND kind=?"));
  row->bind(1, static_cast<std::int64_t>(step)).bind(2, kind);
  KERNEVO_TRY(found, row->step());
  if (!found)
    return std::nullopt;
  const std::string body = row->text(0);
  row->reset();
  KERNEVO_TRY(event, event_from_json(kind, body));
  return std::optional(std::move(event));
}

Result<std::optional<Evaluation>> Journal::evaluation(Step step) {
  KERNEVO_TRY(event, event_of_step(step, "evaluation"));
  return event ? std::optional(std::get<Evaluation>(*event)) : std::nullopt;
}

Result<std::optional<Candidate>> Journal::candidate(Step step) {
  KERNEVO_TRY(event, event_of_step(step, "candidate"));
  return event ? std::optional(std::get<Candidate>(*event)) : std::nullopt;
}

Result<std::optional<Directive>> Journal::directive(Step step) {
  KERNEVO_TRY(event, event_of_step(step, "directive"));
  return event ? std::optional(std::get<Directive>(*event)) : std::nullopt;
}

Result<std::optional<Journal::Snapshot>> Journal::snapshot() {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, parts_->statement("SELECT number, body FROM snapshots ORDER BY number DESC "
                                     "LIMIT 1"));
  KERNEVO_TRY(found, row->step());
  if (!found)
    return std::nullopt;
  Snapshot snapshot{row->integer(0), row->text(1)};
  row->reset();
  return std::optional(std::move(snapshot));
}

Result<void> Journal::put_snapshot(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(transaction, Transaction::begin(*parts_->database));
  KERNEVO_CHECK(parts_->database->execute("DELETE FROM snapshots"));
  KERNEVO_TRY(insert, parts_->statement("INSERT INTO snapshots VALUES(?,?)"));
  insert->bind(1, snapshot.number).bind(2, std::string_view(snapshot.body));
  KERNEVO_CHECK(insert->run());
  return transaction.commit();
}

Result<std::optional<std::string>> Journal::recall(const std::string& key) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(row, parts_->statement("SELECT body FROM memo WHERE key=?"));
  row->bind(1, std::string_view(key));
  KERNEVO_TRY(found, row->step());
  std::optional<std::string> body = found ? std::optional(row->text(0)) : std::nullopt;
  row->reset();
  return body;
}

Result<void> Journal::remember(const std::string& key, std::string_view body) {
  const std::lock_guard lock(mutex_);
  KERNEVO_TRY(insert, parts_->statement("INSERT OR IGNORE INTO memo VALUES(?,?)"));
  insert->bind(1, std::string_view(key)).bind(2, body);
  return insert->run();
}

Result<Journal::BlobAudit> Journal::audit_blobs() {
  std::set<std::string> wanted;
  KERNEVO_CHECK(read(1, [&](const StoredEvent& stored) {
    for (std::string& hash : references(stored.event))
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
