// The file: journals written by earlier versions open, those of later ones are left alone.
#include "places.h"
#include "store_fixture.h"

#include <fstream>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sstream>

namespace kernevo::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SqliteFormat : public JournalTest {
protected:
  void execute(const std::string& sql) const {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &raw), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(raw);
    sqlite3_close(raw);
  }
};

TEST_F(SqliteFormat, AJournalOfFormatOneOpensAndGoesOn) {
  std::ostringstream sql;
  sql << std::ifstream(test_folder("unit/store") + "/format_1.sql").rdbuf();
  std::filesystem::create_directories(folder_);
  execute(sql.str());
  auto journal = open();
  const auto events = events_of(*journal);
  ASSERT_EQ(events.size(), 10U);
  EXPECT_EQ(events[0].milliseconds, 1794981437236);
  EXPECT_EQ(std::get<RunStarted>(events[0].event), started());
  EXPECT_EQ(std::get<Directive>(events[4].event), directive(1));
  EXPECT_EQ(std::get<Candidate>(events[5].event), candidate(1));
  EXPECT_EQ(std::get<Evaluation>(events[6].event), evaluation(1));
  EXPECT_EQ(events[6].seconds, 0.5);
  EXPECT_EQ(*journal->blob(candidate(2).source), source_of(2));
  EXPECT_THAT(*journal->remembered(), ElementsAre("instance/0", "instance/1", "instance/2"));
  EXPECT_EQ(**journal->recall("instance/1"), "body 1");
  EXPECT_EQ((*journal->snapshot())->body, "a fold of ten events");
  EXPECT_EQ((*journal->step(2))->title, "title 2");
  EXPECT_EQ(*journal->find_identity("identity 1", 3), Step{1});
  write_steps(*journal, 3, 4);
  EXPECT_EQ(events_of(*journal).size(), 13U);
  EXPECT_THAT(journal->audit_blobs()->missing, IsEmpty());
}

TEST_F(SqliteFormat, ANewJournalHasTheTablesOfFormatOne) {
  const auto tables = [this] {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open(file().c_str(), &raw), SQLITE_OK);
    std::vector<std::string> all;
    sqlite3_exec(
        raw, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql",
        [](void* list, int, char** columns, char**) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(columns[0]);
          return 0;
        },
        &all, nullptr);
    sqlite3_close(raw);
    return all;
  };
  create();
  const auto fresh = tables();
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  std::ostringstream sql;
  sql << std::ifstream(test_folder("unit/store") + "/format_1.sql").rdbuf();
  execute(sql.str());
  EXPECT_EQ(fresh, tables());
}

TEST_F(SqliteFormat, ANewerFormatIsLeftAlone) {
  write_steps(*create(), 0, 2);
  execute("UPDATE meta SET value='99'");
  for (const auto access : {Journal::Access::read, Journal::Access::write}) {
    const auto journal = open_journal(folder_, access);
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().code, ErrorCode::unsupported);
    EXPECT_THAT(format_error(journal.error()), HasSubstr("newer kernevo (format 99"));
  }
  const auto repaired = repair_journal(folder_);
  ASSERT_FALSE(repaired);
  EXPECT_THAT(format_error(repaired.error()), HasSubstr("newer kernevo"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "journal.damaged"));
}

int short_texts_only(sqlite3* database, char**, const void*) {
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 10'000);
  return SQLITE_OK;
}

// Its own limit is a gigabyte: here a smaller one.
TEST_F(SqliteFormat, WhatSqliteCannotHoldIsRefusedAndNotLeftOut) {
  auto* const entry = reinterpret_cast<void (*)()>(short_texts_only); // NOLINT: as SQLite wants it
  sqlite3_auto_extension(entry);
  auto journal = create();
  sqlite3_cancel_auto_extension(entry);
  write_steps(*journal, 0, 1);
  const std::string too_long(20'000, 'x');
  Candidate large = candidate(1);
  large.source = sha256_hex(too_long);
  const auto appended = journal->append(large, {too_long});
  ASSERT_FALSE(appended) << "an event without its blob";
  EXPECT_THAT(format_error(appended.error()), HasSubstr("cannot hold anything that long"));
  EXPECT_FALSE(journal->remember("key", too_long));
  EXPECT_FALSE(journal->remember(too_long, "body"));
  EXPECT_FALSE(journal->put_snapshot({1, too_long}));
  EXPECT_EQ(events_of(*journal).size(), 4U);
  write_steps(*journal, 1, 2);
  EXPECT_EQ(events_of(*journal).size(), 7U);
}

} // namespace
} // namespace kernevo::store
