// Private to store/: open_journal.h repairs.
#pragma once

#include "kernevo/store/open_journal.h"

namespace kernevo::store {

// Writes what is whole to a new file and moves the damaged one aside.
Result<Repair> repair_sqlite_journal(const std::string& folder);

} // namespace kernevo::store
