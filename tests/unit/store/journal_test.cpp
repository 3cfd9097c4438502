#include "store_fixture.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <thread>

namespace kernevo::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(JournalTest, WhatWasAppendedIsReadInOrderAndAfterReopening) {
  write_steps(*create(), 0, 3);
  auto journal = open(Journal::Access::read);
  EXPECT_EQ(journal->events(), 10);
  const auto events = events_of(*journal);
  ASSERT_EQ(events.size(), 10U);
  EXPECT_EQ(std::get<RunStarted>(events[0].event), started());
  EXPECT_EQ(std::get<Directive>(events[4].event), directive(1));
  EXPECT_EQ(std::get<Candidate>(events[5].event), candidate(1));
  EXPECT_EQ(std::get<Evaluation>(events[6].event), evaluation(1));
  for (std::size_t i = 0; i < events.size(); ++i)
    EXPECT_EQ(events[i].number, static_cast<std::int64_t>(i + 1));
  EXPECT_EQ(events[6].seconds, 0.5);
  EXPECT_FALSE(events[5].seconds);
  EXPECT_GT(events[0].milliseconds, 1'600'000'000'000);
  EXPECT_EQ(events_of(*journal, 8).size(), 3U);
}

TEST_F(JournalTest, ReadingStopsWhenTold) {
  auto journal = create();
  write_steps(*journal, 0, 3);
  int seen = 0;
  ASSERT_TRUE(journal->read(1, [&](const StoredEvent&) { return ++seen < 4; }));
  EXPECT_EQ(seen, 4);
  EXPECT_TRUE(journal->append(directive(3))) << "the reading is over";
}

TEST_F(JournalTest, TheIndexAnswersForSteps) {
  auto journal = create();
  write_steps(*journal, 0, 4);
  ASSERT_TRUE(journal->append(directive(4)));
  const auto row = journal->step(2);
  ASSERT_TRUE(row && *row);
  EXPECT_EQ((*row)->mode, "exploit");
  EXPECT_EQ((*row)->direction, "vectorize");
  EXPECT_EQ((*row)->parent, Step{1});
  EXPECT_EQ((*row)->source, candidate(2).source);
  EXPECT_EQ((*row)->title, "title 2");
  EXPECT_EQ((*row)->identity, "identity 2");
  EXPECT_EQ((*row)->outcome, "not_better");
  EXPECT_EQ((*row)->objective_ns, 1002.0);
  const auto pending = journal->step(4);
  ASSERT_TRUE(pending && *pending);
  EXPECT_EQ((*pending)->outcome, "");
  EXPECT_FALSE((*pending)->objective_ns);
  EXPECT_FALSE((*journal->step(0))->parent);
  EXPECT_FALSE(*journal->step(5));
  EXPECT_EQ(journal->steps(1, 2)->size(), 2U);
  EXPECT_EQ(journal->steps(3, 100)->size(), 2U);
  EXPECT_EQ(**journal->evaluation(3), evaluation(3));
  EXPECT_EQ(**journal->candidate(3), candidate(3));
  EXPECT_EQ(**journal->directive(4), directive(4));
  EXPECT_FALSE(*journal->evaluation(4));
}

TEST_F(JournalTest, WhoWasFirstIsFoundBeforeABoundOnly) {
  auto journal = create();
  write_steps(*journal, 0, 3);
  ASSERT_TRUE(journal->append(directive(3)));
  Candidate twin = candidate(3);
  twin.source = candidate(1).source;
  ASSERT_TRUE(journal->append(twin));
  Evaluation same = evaluation(3);
  same.identity = "identity 1";
  ASSERT_TRUE(journal->append(same));
  for (const Step before : {2, 3, 4, 100}) {
    EXPECT_EQ(*journal->find_source(candidate(1).source, before), Step{1}) << before;
    EXPECT_EQ(*journal->find_identity("identity 1", before), Step{1}) << before;
  }
  EXPECT_FALSE(*journal->find_source(candidate(1).source, 1));
  EXPECT_FALSE(*journal->find_identity("identity 1", 1));
  EXPECT_FALSE(*journal->find_source("", 0));
  EXPECT_FALSE(*journal->find_identity("no such", 100));
}

TEST_F(JournalTest, BlobsAreKeptOnceAndCheckedWhenRead) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  EXPECT_EQ(*journal->blob(candidate(1).source), source_of(1));
  const std::string bytes("\0\xff\n\0x", 5);
  Candidate binary = candidate(2);
  binary.source = sha256_hex(bytes);
  ASSERT_TRUE(journal->append(binary, {bytes, bytes}));
  EXPECT_EQ(*journal->blob(binary.source), bytes);
  const auto missing = journal->blob(sha256_hex("no such"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(format_error(missing.error()), HasSubstr("missing"));
  const auto audit = journal->audit_blobs();
  ASSERT_TRUE(audit);
  EXPECT_THAT(audit->orphans, IsEmpty());
  EXPECT_THAT(audit->missing, IsEmpty());
}

TEST_F(JournalTest, TheAuditNamesOrphansAndWhatIsMissing) {
  auto journal = create();
  ASSERT_TRUE(journal->append(started(), {"nobody refers to this"}));
  const auto audit = journal->audit_blobs();
  ASSERT_TRUE(audit);
  EXPECT_THAT(audit->orphans, ElementsAre(sha256_hex("nobody refers to this")));
  EXPECT_THAT(audit->missing, ElementsAre(started().task));
}

TEST_F(JournalTest, AnEventThatCannotBeStoredLeavesNoBlobBehind) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  // A step is decided once: the index refuses a second.
  EXPECT_FALSE(journal->append(directive(1), {"half of an event"}));
  EXPECT_EQ(journal->events(), 7);
  EXPECT_FALSE(journal->blob(sha256_hex("half of an event")));
  EXPECT_TRUE(journal->append(directive(2)));
  EXPECT_EQ(events_of(*journal).size(), 8U);
}

TEST_F(JournalTest, OfTwoMemoriesTheFirstStands) {
  auto journal = create();
  EXPECT_FALSE(*journal->recall("key"));
  ASSERT_TRUE(journal->remember("key", "first"));
  ASSERT_TRUE(journal->remember("key", "second"));
  EXPECT_EQ(**journal->recall("key"), "first");
}

TEST_F(JournalTest, TheLatestSnapshotReplacesTheOneBefore) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  EXPECT_FALSE(*journal->snapshot());
  ASSERT_TRUE(journal->put_snapshot({3, "three"}));
  ASSERT_TRUE(journal->put_snapshot({6, "six"}));
  const auto snapshot = journal->snapshot();
  ASSERT_TRUE(snapshot && *snapshot);
  EXPECT_EQ((*snapshot)->number, 6);
  EXPECT_EQ((*snapshot)->body, "six");
}

TEST_F(JournalTest, ASnapshotOfEventsThatAreNotThereIsNone) {
  auto journal = create();
  write_steps(*journal, 0, 1);
  ASSERT_TRUE(journal->put_snapshot({5, "five"}));
  EXPECT_FALSE(*journal->snapshot());
}

TEST_F(JournalTest, ThreadsMayUseItTogether) {
  auto journal = create();
  write_steps(*journal, 0, 1);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(journal->remember(fmt::format("{} {}", t, i), "body"));
        EXPECT_TRUE(journal->find_identity("identity 0", 1));
      }
    });
  for (Step step = 1; step < 30; ++step)
    EXPECT_TRUE(journal->append(directive(step)));
  threads.clear();
  EXPECT_EQ(events_of(*journal).size(), 33U);
  EXPECT_TRUE(*journal->recall("3 49"));
}

TEST_F(JournalTest, AReaderSeesARunThatIsBeingWritten) {
  auto writer = create();
  write_steps(*writer, 0, 2);
  auto reader = open(Journal::Access::read);
  EXPECT_EQ(events_of(*reader).size(), 7U);
  write_steps(*writer, 2, 3);
  EXPECT_EQ(events_of(*reader).size(), 10U);
}

TEST_F(JournalTest, AFolderHoldsOneRun) {
  create();
  const auto second = Journal::create(folder_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::usage);
  EXPECT_THAT(format_error(second.error()), HasSubstr("holds a run already"));
  const auto none = Journal::open(folder_ / "other", Journal::Access::read);
  ASSERT_FALSE(none);
  EXPECT_THAT(format_error(none.error()), HasSubstr("holds no run"));
}

TEST_F(JournalTest, ANewerFormatIsLeftAlone) {
  write_steps(*create(), 0, 2);
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "UPDATE meta SET value='99'", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  for (const auto access : {Journal::Access::read, Journal::Access::write}) {
    const auto journal = Journal::open(folder_, access);
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().code, ErrorCode::unsupported);
    EXPECT_THAT(format_error(journal.error()), HasSubstr("newer kernevo (format 99"));
  }
  const auto repaired = repair_journal(folder_);
  ASSERT_FALSE(repaired);
  EXPECT_THAT(format_error(repaired.error()), HasSubstr("newer kernevo"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "journal.damaged"));
}

} // namespace
} // namespace kernevo::store
