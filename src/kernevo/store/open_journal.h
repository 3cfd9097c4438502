// The one door to runs that are kept. A location is a folder, or SCHEME://REST for a kind of store
// of that name.
#pragma once

#include "kernevo/store/journal.h"

#include <memory>

namespace kernevo::store {

// An error that lists the kinds there are when a location names none of them. Any name passes that
// is no SCHEME://REST.
Result<void> check_location(const std::string& location);

bool holds_run(const std::string& location);

// A new run where there is none.
Result<std::unique_ptr<Journal>> create_journal(const std::string& location);
// A clear error where there is no run, for a newer format, a damaged store, and for writing while
// another process does.
Result<std::unique_ptr<Journal>> open_journal(const std::string& location, Journal::Access access);

struct Repair {
  std::int64_t kept = 0;       // events
  std::filesystem::path aside; // where the damaged file went; empty when nothing is damaged
};

// Keeps every event before the first damaged one, or the first candidate whose source is lost, and
// moves what is damaged aside. A run of which nothing can be kept stays as it is.
Result<Repair> repair_journal(const std::string& location);

// Takes away what create_journal made, of a run that came to nothing; all else stays.
void discard_journal(const std::string& location);

} // namespace kernevo::store
