// A journal in a folder with one SQLite file and a lock. Private to store/: open_journal.h opens
// it.
#pragma once

#include "kernevo/store/journal.h"
#include "kernevo/store/run_lock.h"
#include "kernevo/store/sqlite_tables.h"

#include <memory>
#include <mutex>

namespace kernevo::store {

inline constexpr const char* kJournalFile = "journal.sqlite";
inline constexpr const char* kFreshFile = "journal.new"; // while it is being made

bool holds_sqlite_journal(const std::string& folder);
void discard_sqlite_journal(const std::string& folder);

class SqliteJournal : public Journal {
public:
  static Result<std::unique_ptr<Journal>> create(const std::string& folder);
  static Result<std::unique_ptr<Journal>> open(const std::string& folder, Access access);

  std::int64_t events() const override;
  Result<void> read(std::int64_t from,
                    const std::function<bool(const StoredEvent&)>& take) override;
  Result<std::vector<StepRow>> steps(Step from, std::size_t limit) override;
  Result<std::optional<Step>> find_source(const std::string& hash, Step before) override;
  Result<std::optional<Step>> find_identity(const std::string& identity, Step before) override;
  Result<std::optional<Snapshot>> snapshot() override;
  Result<void> put_snapshot(const Snapshot& snapshot) override;
  Result<std::optional<std::string>> recall(const std::string& key) override;
  Result<void> remember(const std::string& key, std::string_view body) override;
  Result<std::vector<std::string>> remembered() override;

protected:
  Result<void> commit(const Entry& entry) override;
  Result<std::optional<std::string>> load_blob(const std::string& hash) override;
  Result<std::vector<std::string>> blob_hashes() override;
  Result<std::vector<RunEvent>> events_of_step(Step step, std::string_view kind) override;

private:
  SqliteJournal(const std::string& folder, std::optional<RunLock> lock,
                std::unique_ptr<Database> database);
  // The first column of every row.
  Result<std::vector<std::string>> column(const std::string& sql);

  std::optional<RunLock> lock_; // of a writer; outlives the tables
  SqliteTables tables_;
  std::int64_t events_ = 0;
  mutable std::mutex mutex_;
};

} // namespace kernevo::store
