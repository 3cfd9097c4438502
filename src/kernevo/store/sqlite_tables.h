// The tables of a journal in SQLite and how rows get in and out of them, for the journal and its
// repair. Private to store/.
#pragma once

#include "kernevo/model/run_event.h"
#include "kernevo/store/journal.h"
#include "kernevo/store/sqlite.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace kernevo::store {

inline constexpr int kJournalFormat = 1;

std::int64_t checksum(std::string_view kind, std::string_view body);

// Tables without rows, and the format they have.
Result<void> create_tables(Database& database);
// An error for a format this program does not know, or a file that is damaged.
Result<void> check_format(Database& database);

class SqliteTables {
public:
  explicit SqliteTables(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Database& database() { return *database_; }
  // Prepared once, ready to bind.
  Result<Statement*> statement(const std::string& sql);

  // The event and the index of its step.
  Result<void> insert_event(const StoredEvent& stored);
  Result<void> insert_blob(const std::string& hash, std::string_view body);
  Result<void> insert_memo(const std::string& key, std::string_view body);

  // In order. The number of the first event that is damaged, 0 when none is.
  Result<std::int64_t> read_events(std::int64_t from,
                                   const std::function<bool(const StoredEvent&)>& take);
  // What is whole, in the order it was stored; ends where the file cannot be read any further.
  void
  read_blobs(const std::function<void(const std::string& hash, const std::string& body)>& take);
  void read_memo(const std::function<void(const std::string& key, const std::string& body)>& take);

private:
  Result<void> index(const RunEvent& event);

  std::unique_ptr<Database> database_;
  std::map<std::string, Statement> statements_; // by their text
};

} // namespace kernevo::store
