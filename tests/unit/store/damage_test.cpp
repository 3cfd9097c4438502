// Files that were cut short, bytes that changed, files that never were a journal.
#include "store_fixture.h"

#include "kernevo/base/random.h"

#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace kernevo::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

class DamageTest : public JournalTest {
protected:
  static constexpr Step kSteps = 120;

  void SetUp() override {
    JournalTest::SetUp();
    static std::string bytes; // made once: it takes a while
    static std::vector<StoredEvent> events;
    if (bytes.empty()) {
      auto journal = create();
      write_steps(*journal, 0, kSteps);
      events = events_of(*journal);
      journal.reset();
      bytes = bytes_of(file());
    }
    fs::create_directories(folder_);
    write_bytes(file(), bytes);
    bytes_ = bytes;
    whole_ = events;
  }

  // Everything before the damage, the run goes on, and nothing is torn apart.
  void expect_prefix_goes_on(std::int64_t at_least) {
    auto journal = open();
    const auto events = events_of(*journal);
    ASSERT_GE(static_cast<std::int64_t>(events.size()), at_least);
    ASSERT_LE(events.size(), whole_.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].event, whole_[i].event) << i;
      ASSERT_EQ(events[i].milliseconds, whole_[i].milliseconds);
      ASSERT_EQ(events[i].seconds, whole_[i].seconds);
    }
    EXPECT_EQ(journal->events(), static_cast<std::int64_t>(events.size()));
    EXPECT_TRUE(journal->append(RunResumed{1, {}}));
    EXPECT_EQ(events_of(*journal).size(), events.size() + 1);
    const auto audit = journal->audit_blobs();
    ASSERT_TRUE(audit);
    EXPECT_THAT(audit->orphans, IsEmpty());
    for (const auto& stored : events)
      if (const auto* c = std::get_if<Candidate>(&stored.event)) {
        EXPECT_EQ(*journal->blob(c->source), source_of(c->step));
      }
  }

  std::vector<StoredEvent> whole_;
  std::string bytes_;
};

TEST_F(DamageTest, AChangedByteOfAnEventIsNamedAndAllBeforeItIsKept) {
  const std::string mark = "the reason of step 117";
  const std::size_t at = bytes_.rfind(mark);
  ASSERT_NE(at, std::string::npos);
  std::string changed = bytes_;
  changed[at] = 'T';
  write_bytes(file(), changed);
  const std::int64_t number = 1 + 3 * 117 + 1;
  auto journal = open(Journal::Access::read);
  const auto read = journal->read(1, [](const StoredEvent&) { return true; });
  ASSERT_FALSE(read);
  EXPECT_THAT(format_error(read.error()),
              HasSubstr(fmt::format("event {} is damaged; the {} before it are whole", number,
                                    number - 1)));
  EXPECT_THAT(format_error(read.error()), HasSubstr("kernevo runs --repair " + folder_.string()));
  EXPECT_TRUE(is_one_line(read.error()));
  const auto asked = journal->directive(117);
  ASSERT_FALSE(asked) << "looked up directly, it is damaged all the same";
  EXPECT_THAT(format_error(asked.error()), HasSubstr("is damaged"));
  journal.reset();
  const auto repaired = repair_journal(folder_);
  ASSERT_TRUE(repaired) << format_error(repaired.error());
  EXPECT_EQ(repaired->kept, number - 1);
  EXPECT_EQ(bytes_of(repaired->aside), changed) << "the damaged file is kept as it was";
  expect_prefix_goes_on(number - 1);
  EXPECT_EQ(**open()->recall("instance/50"), "body 50");
  EXPECT_EQ(repair_journal(folder_)->aside, "") << "now nothing is damaged";
}

TEST_F(DamageTest, AFileCutShortKeepsWhatCameBefore) {
  std::int64_t most = 0;
  for (const double part : {0.3, 0.6, 0.9, 0.97, 0.999}) {
    SCOPED_TRACE(part);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write_bytes(file(), bytes_.substr(0, static_cast<std::size_t>(
                                             part * static_cast<double>(bytes_.size()))));
    // Cut within the last page, the file may still open; it is damaged all the same.
    auto journal = open_journal(folder_, Journal::Access::write);
    if (journal && part > 0.99)
      continue;
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().code, ErrorCode::input);
    EXPECT_THAT(format_error(journal.error()), HasSubstr("is damaged"));
    EXPECT_THAT(format_error(journal.error()),
                HasSubstr("kernevo runs --repair " + folder_.string()));
    EXPECT_TRUE(is_one_line(journal.error()));
    const auto repaired = repair_journal(folder_);
    ASSERT_TRUE(repaired) << format_error(repaired.error());
    EXPECT_GE(repaired->kept, most) << "the more is left, the more is kept";
    most = repaired->kept;
    expect_prefix_goes_on(part * 0.5 * static_cast<double>(whole_.size()));
  }
  EXPECT_GT(most, static_cast<std::int64_t>(whole_.size()) * 9 / 10);
}

TEST_F(DamageTest, WhateverByteChangesTheAnswerIsOneLineOrTheTruth) {
  const CounterRandom random(7);
  int mended = 0;
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::string changed = bytes_;
    // A burst of 16 bytes, away from the first page: without it nothing is a database.
    const auto at = static_cast<std::size_t>(
        random.integer(round, 4096, static_cast<std::int64_t>(bytes_.size()) - 17));
    for (std::size_t i = 0; i < 16; ++i)
      changed[at + i] = static_cast<char>(changed[at + i] ^ 0x5A);
    write_bytes(file(), changed);
    if (const auto journal = open_journal(folder_, Journal::Access::write); !journal) {
      EXPECT_TRUE(is_one_line(journal.error())) << format_error(journal.error());
    } else {
      std::size_t seen = 0;
      const auto read = (*journal)->read(1, [&](const StoredEvent& stored) {
        EXPECT_EQ(stored.event, whole_.at(seen).event);
        return ++seen < whole_.size();
      });
      if (!read) {
        EXPECT_TRUE(is_one_line(read.error())) << format_error(read.error());
      }
    }
    const auto repaired = repair_journal(folder_);
    if (repaired) {
      ++mended;
      expect_prefix_goes_on(repaired->kept);
    } else {
      EXPECT_TRUE(is_one_line(repaired.error())) << format_error(repaired.error());
    }
  }
  EXPECT_GT(mended, 0);
}

TEST_F(DamageTest, ALostSourceEndsTheRunBeforeItsCandidate) {
  const std::string mark = "// kernel of step 100\n";
  const std::size_t at = bytes_.rfind(mark);
  ASSERT_NE(at, std::string::npos);
  std::string changed = bytes_;
  changed[at + mark.size() + 10] = '?';
  write_bytes(file(), changed);
  {
    auto journal = open(Journal::Access::read);
    const auto blob = journal->blob(candidate(100).source);
    ASSERT_FALSE(blob);
    EXPECT_THAT(format_error(blob.error()), HasSubstr("damaged"));
  }
  const auto repaired = repair_journal(folder_);
  ASSERT_TRUE(repaired) << format_error(repaired.error());
  EXPECT_EQ(repaired->kept, 1 + 3 * 100 + 1) << "with the directive, without the candidate";
  expect_prefix_goes_on(repaired->kept);
}

TEST_F(DamageTest, WhatIsRememberedWronglyIsForgotten) {
  const std::size_t at = bytes_.rfind("body 77");
  ASSERT_NE(at, std::string::npos);
  bytes_[at] = 'B';
  write_bytes(file(), bytes_);
  auto journal = open();
  EXPECT_FALSE(*journal->recall("instance/77"));
  ASSERT_TRUE(journal->remember("instance/77", "found out again"));
  EXPECT_EQ(**journal->recall("instance/77"), "found out again");
}

TEST_F(DamageTest, ADamagedSnapshotIsNone) {
  ASSERT_TRUE(open()->put_snapshot({100, "a fold of a hundred events"}));
  bytes_ = bytes_of(file());
  const std::size_t at = bytes_.rfind("hundred");
  ASSERT_NE(at, std::string::npos);
  bytes_[at] = 'H';
  write_bytes(file(), bytes_);
  const auto snapshot = open()->snapshot();
  ASSERT_TRUE(snapshot);
  EXPECT_FALSE(*snapshot);
}

TEST_F(DamageTest, AWholeJournalIsNotRepaired) {
  const auto repaired = repair_journal(folder_);
  ASSERT_TRUE(repaired) << format_error(repaired.error());
  EXPECT_EQ(repaired->kept, static_cast<std::int64_t>(whole_.size()));
  EXPECT_EQ(repaired->aside, "");
  EXPECT_EQ(bytes_of(file()), bytes_);
}

TEST_F(DamageTest, AFileThatIsNoDatabaseStaysAsItIs) {
  for (const std::string& text : {std::string("hello\n"), std::string(), std::string(9000, 'z')}) {
    write_bytes(file(), text);
    const auto journal = open_journal(folder_, Journal::Access::read);
    ASSERT_FALSE(journal);
    EXPECT_TRUE(is_one_line(journal.error())) << format_error(journal.error());
    EXPECT_THAT(format_error(journal.error()), HasSubstr(file().string()));
    const auto repaired = repair_journal(folder_);
    ASSERT_FALSE(repaired);
    EXPECT_TRUE(is_one_line(repaired.error())) << format_error(repaired.error());
    EXPECT_EQ(bytes_of(file()), text);
  }
}

} // namespace
} // namespace kernevo::store
