// What every store must do: each test of Conformance runs on every kind there is. A kind that
// cannot suffer what a test is about says why, and the test is skipped with its words.
#pragma once

#include "kinds.h"
#include "sample_events.h"
#include "test_folder.h"

#include <gmock/gmock.h>

namespace kernevo::store {

class Conformance : public testing::TestWithParam<KindEntry> {
protected:
  void SetUp() override { kind_ = GetParam().make(folder_.path("store")); }

  static constexpr const char* kRun = "the-run";

  std::unique_ptr<Journal> create(const std::string& run = kRun) {
    return whole(kind_->create(run));
  }
  std::unique_ptr<Journal> open(Journal::Access access = Journal::Access::write) {
    return whole(kind_->open(kRun, access));
  }
  std::unique_ptr<Journal> reader() { return open(Journal::Access::read); }

  const TestFolder folder_;
  std::unique_ptr<Kind> kind_;

private:
  // A test cannot go on without.
  static std::unique_ptr<Journal> whole(Result<std::unique_ptr<Journal>> journal) {
    EXPECT_TRUE(journal) << format_error(journal.error());
    return std::move(journal.value());
  }
};

} // namespace kernevo::store
