#include "kinds.h"
#include "memory_store.h"

#include <gtest/gtest.h>

namespace kernevo::store {
namespace {

class MemoryKind : public Kind {
public:
  Result<std::unique_ptr<Journal>> create(const std::string& run) override {
    return store_.create(run);
  }
  Result<std::unique_ptr<Journal>> open(const std::string& run, Journal::Access access) override {
    return store_.open(run, access);
  }
  Result<Repair> repair(const std::string& run) override { return store_.repair(run); }

  void end_after(const std::string& run, const std::function<void(Journal&)>& work) override {
    const auto journal = store_.open(run, Journal::Access::write);
    ASSERT_TRUE(journal) << format_error(journal.error());
    work(**journal);
  }
  void end_within(const std::string& run, const RunEvent& event, const Blobs& blobs) override {
    const auto journal = store_.open(run, Journal::Access::write);
    ASSERT_TRUE(journal) << format_error(journal.error());
    store_.drop_next_transaction(run);
    EXPECT_FALSE((*journal)->append(event, blobs));
    EXPECT_FALSE((*journal)->remember("after the end", "nothing"));
  }

  std::string cannot_be_killed() const override {
    return "memory ends with the process that is killed";
  }
  int kill_after(const std::string&, const std::function<bool(Journal&, int)>&, int) override {
    ADD_FAILURE() << cannot_be_killed();
    return 0;
  }
  std::string cannot_be_damaged() const override { return "nothing but the store has its memory"; }
  void damage(const std::string&, Part, const std::string&) override {
    ADD_FAILURE() << cannot_be_damaged();
  }

private:
  MemoryStore store_;
};

} // namespace

std::unique_ptr<Kind> make_memory_kind(const std::string&) {
  return std::make_unique<MemoryKind>();
}

} // namespace kernevo::store
