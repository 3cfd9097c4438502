#include "kernevo/store/journal.h"
#include "kernevo/store/run_lock.h"
#include "kernevo/store/sqlite.h"

#include <fmt/format.h>

namespace kernevo::store {
namespace {

namespace fs = std::filesystem;

// Rows of a table that can still be read, one by one; the rest is given up.
void copy_rows(Database& from, Database& to, const std::string& select, const std::string& insert,
               int columns) {
  auto rows = from.prepare(select);
  auto target = to.prepare(insert);
  if (!rows || !target)
    return;
  while (true) {
    const auto more = rows->step();
    if (!more || !*more)
      return;
    for (int i = 0; i < columns; ++i)
      target->bind(i + 1, std::string_view(rows->text(i)));
    if (!target->run())
      return;
  }
}

// The events before the first that is damaged.
Result<std::vector<StoredEvent>> whole_events(const fs::path& folder) {
  std::vector<StoredEvent> events;
  auto journal = Journal::open(folder, Journal::Access::read);
  if (!journal)
    return events; // not even the tables can be read
  // Damage ends the reading; that is what is wanted here.
  static_cast<void>((*journal)->read(1, [&](const StoredEvent& stored) {
    events.push_back(stored);
    return true;
  }));
  return events;
}

} // namespace

Result<std::int64_t> repair_journal(const fs::path& folder) {
  const fs::path file = folder / kJournalFile;
  std::error_code problem;
  if (!fs::exists(file, problem))
    return fail(ErrorCode::usage, "holds no run", Place{folder.string()});
  {
    KERNEVO_TRY(lock, RunLock::take(folder));
    static_cast<void>(lock);
  }
  KERNEVO_TRY(events, whole_events(folder));
  fs::path aside = folder / "journal.damaged";
  for (int number = 2; fs::exists(aside, problem); ++number)
    aside = folder / fmt::format("journal.damaged-{}", number);
  fs::rename(file, aside, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be moved: " + problem.message(),
                Place{file.string()});
  for (const char* suffix : {"-wal", "-shm"})
    if (fs::exists(file.string() + suffix, problem))
      fs::rename(file.string() + suffix, aside.string() + suffix, problem);
  {
    KERNEVO_TRY(fresh, Journal::create(folder));
    for (const StoredEvent& stored : events)
      KERNEVO_CHECK(fresh->append(stored.event, {}, stored.seconds));
  }
  KERNEVO_TRY(old, Database::open(aside, Database::Mode::write));
  KERNEVO_TRY(target, Database::open(file, Database::Mode::write));
  copy_rows(*old, *target, "SELECT hash, body FROM blobs",
            "INSERT OR IGNORE INTO blobs VALUES(?,?)", 2);
  copy_rows(*old, *target, "SELECT key, body FROM memo", "INSERT OR IGNORE INTO memo VALUES(?,?)",
            2);
  return static_cast<std::int64_t>(events.size());
}

} // namespace kernevo::store
