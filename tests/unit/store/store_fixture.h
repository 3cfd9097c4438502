// A journal of SQLite in a folder of its own.
#pragma once

#include "kernevo/store/open_journal.h"
#include "kernevo/store/sqlite_journal.h"
#include "sample_events.h"
#include "test_folder.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kernevo::store {

class JournalTest : public testing::Test {
protected:
  std::unique_ptr<Journal> create() const {
    auto journal = create_journal(folder_);
    EXPECT_TRUE(journal) << format_error(journal.error());
    return std::move(*journal);
  }
  std::unique_ptr<Journal> open(Journal::Access access = Journal::Access::write) const {
    auto journal = open_journal(folder_, access);
    EXPECT_TRUE(journal) << format_error(journal.error());
    return std::move(*journal);
  }
  std::filesystem::path file() const { return folder_ / kJournalFile; }

  const TestFolder made_;
  const std::filesystem::path folder_ = made_.path() / "run";
};

} // namespace kernevo::store
