// Runs in memory, for tests that need a journal and no disk. To a run this is what a disk is to a
// file: what was committed lasts as long as the store, whoever opened it. Safe from several
// threads.
#pragma once

#include "kernevo/store/open_journal.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace kernevo::store {

class MemoryStore {
public:
  Result<std::unique_ptr<Journal>> create(const std::string& run);
  Result<std::unique_ptr<Journal>> open(const std::string& run, Journal::Access access);
  // Says that there is nothing to be repaired here, ever.
  Result<Repair> repair(const std::string& run);

  // The next transaction of the run's writer is dropped when all but its commit is done, and the
  // writer is of no more use: as if it had been killed.
  void drop_next_transaction(const std::string& run);

  struct Run;

private:
  std::shared_ptr<Run> find(const std::string& run);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Run>> runs_;
};

} // namespace kernevo::store
