// A journal of SQLite in a folder of its own.
#pragma once

#include "kernevo/store/open_journal.h"
#include "kernevo/store/sqlite_journal.h"
#include "sample_events.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kernevo::store {

class JournalTest : public testing::Test {
protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::temp_directory_path() /
        fmt::format("kernevo-store-{}-{}-{}", getpid(), test->test_suite_name(), test->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

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

  std::filesystem::path folder_;
};

} // namespace kernevo::store
