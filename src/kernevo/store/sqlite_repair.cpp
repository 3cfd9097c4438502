#include "kernevo/store/sqlite_repair.h"

#include "kernevo/store/run_lock.h"
#include "kernevo/store/sqlite_journal.h"

#include <fmt/format.h>
#include <set>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;

// The events that are kept: all before the first damaged one and before the first that lost its
// task or its source. A profile is for people: the run goes on without.
struct Whole {
  std::vector<StoredEvent> events;
  bool damaged = false;
};

std::set<std::string> whole_blobs(SqliteTables& tables) {
  std::set<std::string> hashes;
  tables.read_blobs([&](const std::string& hash, const std::string&) { hashes.insert(hash); });
  return hashes;
}

Result<Whole> whole_events(SqliteTables& tables) {
  const std::set<std::string> blobs = whole_blobs(tables);
  Whole whole;
  const auto first_damaged = tables.read_events(1, [&](const StoredEvent& stored) {
    const std::string wanted = reference_of(stored.event);
    const bool lost = !wanted.empty() && !blobs.contains(wanted);
    whole.damaged = whole.damaged || lost;
    if (lost && !std::holds_alternative<Evaluation>(stored.event))
      return false;
    whole.events.push_back(stored);
    return true;
  });
  if (!first_damaged && !tables.database().damaged())
    return tl::unexpected<Error>(first_damaged.error());
  whole.damaged = whole.damaged || !first_damaged || *first_damaged > 0;
  return whole;
}

// What no event shows: pages, indices, what is remembered.
bool integrity_holds(Database& database) {
  auto check = database.prepare("PRAGMA integrity_check(1)");
  if (!check)
    return false;
  const auto row = check->step();
  return row && *row && check->text(0) == "ok";
}

Result<void> write_whole(const std::vector<StoredEvent>& events, SqliteTables& from,
                         SqliteTables& to) {
  KERNEVO_TRY(transaction, Transaction::begin(to.database()));
  std::set<std::string> wanted;
  for (const StoredEvent& stored : events) {
    KERNEVO_CHECK(to.insert_event(stored));
    wanted.insert(reference_of(stored.event));
  }
  Result<void> written;
  from.read_blobs([&](const std::string& hash, const std::string& body) {
    if (written && wanted.contains(hash))
      written = to.insert_blob(hash, body);
  });
  from.read_memo([&](const std::string& key, const std::string& body) {
    if (written)
      written = to.insert_memo(key, body);
  });
  KERNEVO_CHECK(written);
  return transaction.commit();
}

Result<void> move(const fs::path& from, const fs::path& to) {
  std::error_code problem;
  fs::rename(from, to, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be moved: " + problem.message(),
                Place{from.string()});
  return {};
}

} // namespace

Result<Repair> repair_sqlite_journal(const std::string& location) {
  const fs::path folder = location;
  const fs::path file = folder / kJournalFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return fail(ErrorCode::usage, "holds no run", Place{folder.string()});
  const auto lock = RunLock::take(folder); // until all is done
  if (!lock)
    return tl::unexpected<Error>(lock.error());
  Repair repair;
  const fs::path fresh = folder / kFreshFile;
  {
    KERNEVO_TRY(database, Database::open(file, Database::Mode::read));
    // Else a file that was cut short is not read at all.
    KERNEVO_CHECK(database->execute("PRAGMA writable_schema=ON"));
    if (const auto format = check_format(*database); !format && !database->damaged())
      return tl::unexpected<Error>(format.error());
    SqliteTables old(std::move(database));
    KERNEVO_TRY(whole, whole_events(old));
    repair.kept = static_cast<std::int64_t>(whole.events.size());
    if (!whole.damaged && repair.kept > 0 && integrity_holds(old.database()))
      return repair;
    if (repair.kept == 0)
      return fail(ErrorCode::input, "not one event of the run can be read", Place{file.string()},
                  "nothing was changed; start a new run");
    remove_database(fresh);
    KERNEVO_TRY(made, Database::open(fresh, Database::Mode::create));
    KERNEVO_CHECK(create_tables(*made));
    SqliteTables target(std::move(made));
    KERNEVO_CHECK(write_whole(whole.events, old, target));
  }
  repair.aside = folder / "journal.damaged";
  for (int number = 2; fs::exists(repair.aside, ignored); ++number)
    repair.aside = folder / fmt::format("journal.damaged-{}", number);
  for (const char* suffix : {"-wal", "-shm", ""})
    if (fs::exists(file.string() + suffix, ignored))
      KERNEVO_CHECK(move(file.string() + suffix, repair.aside.string() + suffix));
  KERNEVO_CHECK(move(fresh, file));
  return repair;
}

} // namespace kernevo::store
