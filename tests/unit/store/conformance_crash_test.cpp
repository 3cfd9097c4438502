// What was committed is there, what was not is not, and a run goes on after its writer ended in
// whatever way.
#include "conformance.h"

namespace kernevo::store {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_P(Conformance, WhatWasCommittedOutlivesItsWriter) {
  write_steps(*create(), 0, 2);
  kind_->end_after(kRun, [](Journal& journal) {
    write_steps(journal, 2, 4);
    EXPECT_TRUE(journal.put_snapshot({13, "thirteen"}));
    EXPECT_TRUE(journal.remember("the last word", "said"));
  });
  auto journal = open();
  EXPECT_EQ(journal->events(), 13);
  EXPECT_EQ(events_of(*journal).size(), 13U);
  EXPECT_EQ(*journal->blob(candidate(3).source), source_of(3));
  EXPECT_EQ((*journal->step(3))->title, "title 3");
  EXPECT_EQ((*journal->snapshot())->body, "thirteen");
  EXPECT_EQ(**journal->recall("the last word"), "said");
  write_steps(*journal, 4, 5);
  EXPECT_EQ(events_of(*journal).size(), 16U);
}

TEST_P(Conformance, WhatWasNotCommittedIsNotThere) {
  write_steps(*create(), 0, 2);
  // Large, so that much of it is written before the commit.
  const std::string large(20'000'000, 'x');
  Directive never = directive(2);
  kind_->end_within(kRun, never, {large, "a small one"});
  auto journal = open();
  EXPECT_EQ(journal->events(), 7);
  EXPECT_EQ(events_of(*journal).size(), 7U);
  EXPECT_FALSE(*journal->step(2));
  EXPECT_FALSE(*journal->directive(2));
  EXPECT_FALSE(journal->blob(sha256_hex(large)));
  EXPECT_FALSE(journal->blob(sha256_hex("a small one")));
  EXPECT_THAT(*journal->remembered(), ElementsAre("instance/0", "instance/1"));
  write_steps(*journal, 2, 3);
  const auto events = events_of(*journal);
  ASSERT_EQ(events.size(), 10U);
  EXPECT_EQ(events[7].number, 8) << "its number is taken by the next";
  EXPECT_EQ(std::get<Directive>(events[7].event), directive(2));
  EXPECT_THAT(journal->audit_blobs()->orphans, IsEmpty());
}

TEST_P(Conformance, KilledAtAnyMomentNothingIsTornOrLost) {
  if (const std::string reason = kind_->cannot_be_killed(); !reason.empty())
    GTEST_SKIP() << GetParam().name << ": " << reason;
  for (const int count : {1, 2, 5, 17}) {
    SCOPED_TRACE(count);
    const std::string run = fmt::format("run-{}", count);
    ASSERT_TRUE(create(run)->append(started(), {kTaskText}));
    const int told = kind_->kill_after(
        run,
        [](Journal& journal, int i) {
          const auto step = static_cast<Step>(i);
          return journal.append(directive(step)) &&
                 journal.remember(fmt::format("instance/{}", step), "found") &&
                 journal.append(candidate(step), {source_of(step)});
        },
        count);
    EXPECT_GE(told, count);
    auto journal = kind_->open(run, Journal::Access::write);
    ASSERT_TRUE(journal) << format_error(journal.error());
    const auto events = events_of(**journal);
    EXPECT_EQ((*journal)->events(), static_cast<std::int64_t>(events.size()));
    ASSERT_GE(events.size(), static_cast<std::size_t>(1 + 2 * told)) << "what was told is there";
    ASSERT_LE(events.size(), static_cast<std::size_t>(1 + 2 * told + 2));
    for (std::size_t i = 1; i < events.size(); ++i) {
      const Step step = (i - 1) / 2;
      EXPECT_EQ(events[i].event,
                i % 2 == 1 ? RunEvent(directive(step)) : RunEvent(candidate(step)));
    }
    const auto audit = (*journal)->audit_blobs();
    ASSERT_TRUE(audit);
    EXPECT_THAT(audit->orphans, IsEmpty());
    EXPECT_THAT(audit->missing, IsEmpty());
    for (int i = 0; i < told; ++i)
      EXPECT_EQ(**(*journal)->recall(fmt::format("instance/{}", i)), "found");
    EXPECT_TRUE((*journal)->append(directive(100'000))) << "and it goes on";
  }
}

TEST_P(Conformance, WhatIsDamagedIsNeverGivenOut) {
  if (const std::string reason = kind_->cannot_be_damaged(); !reason.empty()) {
    create();
    const auto repaired = kind_->repair(kRun);
    ASSERT_FALSE(repaired);
    EXPECT_EQ(repaired.error().code, ErrorCode::unsupported) << "it says so itself";
    GTEST_SKIP() << GetParam().name << ": " << reason;
  }
  auto journal = create();
  write_steps(*journal, 0, 5);
  ASSERT_TRUE(journal->put_snapshot({10, "a fold"}));
  journal.reset();
  kind_->damage(kRun, Kind::Part::event, "11"); // the directive of step 3
  kind_->damage(kRun, Kind::Part::blob, candidate(1).source);
  kind_->damage(kRun, Kind::Part::memory, "instance/1");
  kind_->damage(kRun, Kind::Part::snapshot, "");
  for (const auto access : {Journal::Access::read, Journal::Access::write}) {
    journal = open(access);
    int seen = 0;
    const auto read = journal->read(1, [&](const StoredEvent&) { return ++seen > 0; });
    ASSERT_FALSE(read);
    EXPECT_EQ(seen, 10);
    EXPECT_THAT(format_error(read.error()), HasSubstr("event 11 is damaged; the 10 before it"));
    EXPECT_TRUE(is_one_line(read.error()));
    EXPECT_FALSE(journal->directive(3));
    EXPECT_FALSE(journal->blob(candidate(1).source));
    EXPECT_FALSE(*journal->snapshot()) << "the events say the same";
    const auto forgotten = journal->recall("instance/1");
    ASSERT_TRUE(forgotten) << format_error(forgotten.error());
    EXPECT_FALSE(*forgotten) << "to be found out again";
  }
  ASSERT_TRUE(journal->remember("instance/1", "found out again"));
  journal.reset();
  const auto repaired = kind_->repair(kRun);
  ASSERT_TRUE(repaired) << format_error(repaired.error());
  EXPECT_EQ(repaired->kept, 5) << "all before the candidate that lost its source";
  journal = open();
  EXPECT_EQ(events_of(*journal).size(), 5U);
  EXPECT_EQ(**journal->recall("instance/1"), "found out again");
}

} // namespace kernevo::store
