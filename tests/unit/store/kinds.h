// The kinds of store under test, and what each can be made to suffer. Another implementation is
// another line in kinds.cpp.
#pragma once

#include "kernevo/store/open_journal.h"

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace kernevo::store {

class Kind {
public:
  virtual ~Kind() = default;
  virtual Result<std::unique_ptr<Journal>> create(const std::string& run) = 0;
  virtual Result<std::unique_ptr<Journal>> open(const std::string& run, Journal::Access access) = 0;
  virtual Result<Repair> repair(const std::string& run) = 0;

  // Somebody else opens the run for writing, does this, and ends without closing it.
  virtual void end_after(const std::string& run, const std::function<void(Journal&)>& work) = 0;
  // Somebody else appends this to the run and ends when all but the commit is done.
  virtual void end_within(const std::string& run, const RunEvent& event, const Blobs& blobs) = 0;

  // Why nobody else can be killed from here; empty when somebody can.
  virtual std::string cannot_be_killed() const { return {}; }
  // A process opens the run, does the work for 0, 1, 2 and so on, tells after each, and is killed
  // as soon as it has told `count`. How many it had told when it was gone.
  virtual int kill_after(const std::string& run, const std::function<bool(Journal&, int)>& work,
                         int count) = 0;

  // Why nothing that is stored can be changed behind its back; empty when it can.
  virtual std::string cannot_be_damaged() const { return {}; }
  // Changes a byte of the body: of the event with this number, the blob or the memory of this name,
  // the snapshot.
  enum class Part { event, blob, memory, snapshot };
  virtual void damage(const std::string& run, Part part, const std::string& name) = 0;
};

struct KindEntry {
  std::string name;
  // In a folder of its own, which is not there yet.
  std::function<std::unique_ptr<Kind>(const std::string& folder)> make;
};

// How a test names it.
inline void PrintTo(const KindEntry& kind, std::ostream* out) { // NOLINT: gtest's name
  *out << kind.name;
}

const std::vector<KindEntry>& all_kinds();

std::unique_ptr<Kind> make_sqlite_kind(const std::string& folder);
std::unique_ptr<Kind> make_memory_kind(const std::string& folder);

} // namespace kernevo::store
