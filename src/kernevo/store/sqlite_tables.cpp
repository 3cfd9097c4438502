#include "kernevo/store/sqlite_tables.h"

#include "kernevo/base/hash.h"

#include <cstdlib>
#include <fmt/format.h>
#include <zlib.h>

namespace kernevo::store {
namespace {

// Blobs and what is remembered stand in the order they came (no WITHOUT ROWID), so that a damaged
// end of the file costs the latest of them and not any.
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
CREATE TABLE blobs(hash TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE memo(key TEXT PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE snapshots(number INTEGER PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER NOT NULL);
)";

std::optional<std::int64_t> as_integer(const std::optional<Step>& step) {
  return step ? std::optional(static_cast<std::int64_t>(*step)) : std::nullopt;
}

} // namespace

std::int64_t checksum(std::string_view kind, std::string_view body) {
  uLong sum = crc32(0, nullptr, 0);
  for (const std::string_view part : {kind, body})
    if (!part.empty()) // without an address zlib would begin anew
      sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size()); // NOLINT
  return static_cast<std::int64_t>(sum);
}

Result<void> create_tables(Database& database) {
  KERNEVO_CHECK(database.execute(kSchema));
  return database.execute(fmt::format("INSERT INTO meta VALUES('format','{}')", kJournalFormat));
}

Result<void> check_format(Database& database) {
  KERNEVO_TRY(row, database.prepare("SELECT value FROM meta WHERE key='format'"));
  KERNEVO_TRY(found, row.step());
  const int version = found ? std::atoi(row.text(0).c_str()) : 0;
  if (version > kJournalFormat)
    return fail(ErrorCode::unsupported,
                fmt::format("was written by a newer kernevo (format {}, this one reads up to {})",
                            version, kJournalFormat),
                Place{database.file().string()}, "use that version; nothing was changed");
  return {};
}

Result<Statement*> SqliteTables::statement(const std::string& sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    KERNEVO_TRY(prepared, database_->prepare(sql));
    found = statements_.emplace(sql, std::move(prepared)).first;
  }
  found->second.reset();
  return &found->second;
}

Result<void> SqliteTables::insert_event(const StoredEvent& stored) {
  const std::string body = to_json(stored.event);
  KERNEVO_TRY(insert, statement("INSERT INTO events VALUES(?,?,?,?,?,?,?)"));
  insert->bind(1, stored.number)
      .bind(2, stored.milliseconds)
      .bind(3, stored.seconds)
      .bind(4, kind_of(stored.event))
      .bind(5, static_cast<std::int64_t>(step_of(stored.event)))
      .bind(6, std::string_view(body))
      .bind(7, checksum(kind_of(stored.event), body));
  KERNEVO_CHECK(insert->run());
  return index(stored.event);
}

Result<void> SqliteTables::insert_blob(const std::string& hash, std::string_view body) {
  KERNEVO_TRY(insert, statement("INSERT OR IGNORE INTO blobs VALUES(?,?)"));
  insert->bind(1, std::string_view(hash)).bind(2, body);
  return insert->run();
}

Result<void> SqliteTables::insert_memo(const std::string& key, std::string_view body) {
  KERNEVO_TRY(insert, statement("INSERT OR IGNORE INTO memo VALUES(?,?,?)"));
  insert->bind(1, std::string_view(key)).bind(2, body).bind(3, checksum(key, body));
  return insert->run();
}

Result<void> SqliteTables::index(const RunEvent& event) {
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

Result<std::int64_t>
SqliteTables::read_events(std::int64_t from, const std::function<bool(const StoredEvent&)>& take) {
  KERNEVO_TRY(rows, statement("SELECT number, at, seconds, kind, body, checksum FROM events "
                              "WHERE number >= ? ORDER BY number"));
  rows->bind(1, from);
  for (std::int64_t expected = from;; ++expected) {
    const auto more = rows->step();
    if (!more && database_->damaged())
      return expected;
    if (!more)
      return tl::unexpected<Error>(more.error());
    if (!*more)
      break;
    const std::string kind = rows->text(3);
    const std::string body = rows->text(4);
    if (rows->integer(0) != expected || rows->integer(5) != checksum(kind, body)) {
      rows->reset();
      return expected;
    }
    auto event = event_from_json(kind, body);
    if (!event) {
      rows->reset();
      return tl::unexpected<Error>(event.error());
    }
    if (!take({expected, rows->integer(1),
               rows->is_null(2) ? std::nullopt : std::optional(rows->real(2)), std::move(*event)}))
      break;
  }
  rows->reset();
  return 0;
}

void SqliteTables::read_blobs(
    const std::function<void(const std::string&, const std::string&)>& take) {
  const auto rows = statement("SELECT hash, body FROM blobs NOT INDEXED ORDER BY rowid");
  if (!rows)
    return;
  for (auto more = (*rows)->step(); more && *more; more = (*rows)->step()) {
    const std::string hash = (*rows)->text(0);
    const std::string body = (*rows)->text(1);
    if (sha256_hex(body) == hash)
      take(hash, body);
  }
  (*rows)->reset();
}

void SqliteTables::read_memo(
    const std::function<void(const std::string&, const std::string&)>& take) {
  const auto rows = statement("SELECT key, body, checksum FROM memo NOT INDEXED ORDER BY rowid");
  if (!rows)
    return;
  for (auto more = (*rows)->step(); more && *more; more = (*rows)->step()) {
    const std::string key = (*rows)->text(0);
    const std::string body = (*rows)->text(1);
    if ((*rows)->integer(2) == checksum(key, body))
      take(key, body);
  }
  (*rows)->reset();
}

} // namespace kernevo::store
