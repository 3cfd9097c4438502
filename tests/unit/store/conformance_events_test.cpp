#include "conformance.h"

namespace kernevo::store {

using testing::IsEmpty;

TEST_P(Conformance, WhatWasAppendedIsReadInOrderAndAfterReopening) {
  write_steps(*create(), 0, 3);
  auto journal = reader();
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

TEST_P(Conformance, ANewRunIsEmpty) {
  auto journal = create();
  EXPECT_EQ(journal->events(), 0);
  EXPECT_THAT(events_of(*journal), IsEmpty());
  EXPECT_THAT(*journal->steps(0, 10), IsEmpty());
  EXPECT_THAT(*journal->remembered(), IsEmpty());
  EXPECT_FALSE(*journal->snapshot());
  EXPECT_FALSE(*journal->recall("anything"));
  EXPECT_FALSE(*journal->directive(0));
  EXPECT_THAT(*journal->attempts(0), IsEmpty());
  EXPECT_THAT(journal->audit_blobs()->missing, IsEmpty());
}

TEST_P(Conformance, EveryEventComesBackAsItWas) {
  Restarted restarted;
  restarted.step = 1;
  restarted.epoch = 2;
  restarted.reason = "no gain";
  Attempt attempt;
  attempt.step = 0;
  attempt.ordinal = 1;
  attempt.title = "first try";
  attempt.diagnosis.summary = "C[0] is 1, expected 2";
  ModelCall call;
  call.step = 0;
  call.id = "code.0";
  call.dollars = 0.1;
  call.usage.prompt = 7;
  RunBudget budget;
  budget.tokens = 5;
  const std::vector<RunEvent> all = {started(),
                                     directive(0),
                                     candidate(0),
                                     attempt,
                                     call,
                                     evaluation(0),
                                     restarted,
                                     Migrated{1},
                                     RunStopped{StopReason::plateau, "no gain"},
                                     RunResumed{1, budget}};
  ASSERT_EQ(all.size(), std::variant_size_v<RunEvent>);
  auto journal = create();
  for (const RunEvent& event : all)
    ASSERT_TRUE(journal->append(event)) << kind_of(event);
  journal.reset();
  journal = reader();
  const auto stored = events_of(*journal);
  ASSERT_EQ(stored.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(stored[i].event, all[i]) << kind_of(all[i]);
}

TEST_P(Conformance, EventsOfAStepAreItsOwnAndInOrder) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  for (std::uint32_t i = 0; i < 12; ++i) {
    Attempt attempt;
    attempt.step = i % 2;
    attempt.ordinal = i;
    ASSERT_TRUE(journal->append(attempt));
    ModelCall call;
    call.step = 1 - i % 2;
    call.id = fmt::format("code.{}", i);
    ASSERT_TRUE(journal->append(call));
  }
  const auto attempts = journal->attempts(1);
  const auto calls = journal->calls(1);
  ASSERT_TRUE(attempts && calls);
  ASSERT_EQ(attempts->size(), 6U);
  ASSERT_EQ(calls->size(), 6U);
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ((*attempts)[i].ordinal, 2 * i + 1);
    EXPECT_EQ((*calls)[i].id, fmt::format("code.{}", 2 * i));
  }
}

TEST_P(Conformance, ReadingStopsWhenTold) {
  auto journal = create();
  write_steps(*journal, 0, 3);
  int seen = 0;
  ASSERT_TRUE(journal->read(1, [&](const StoredEvent&) { return ++seen < 4; }));
  EXPECT_EQ(seen, 4);
  EXPECT_TRUE(journal->append(directive(3))) << "the reading is over";
}

TEST_P(Conformance, BeyondTheLastEventThereIsNothing) {
  auto journal = create();
  write_steps(*journal, 0, 1);
  EXPECT_THAT(events_of(*journal, 5), IsEmpty());
  EXPECT_THAT(events_of(*journal, 1'000'000'000'000), IsEmpty());
}

// More than any store reads at once.
TEST_P(Conformance, TheOrderOfManyEventsIsTheirOwn) {
  auto journal = create();
  write_steps(*journal, 0, 500);
  const auto events = events_of(*journal);
  ASSERT_EQ(events.size(), 1501U);
  for (Step step = 0; step < 500; ++step)
    ASSERT_EQ(std::get<Candidate>(events[2 + 3 * step].event), candidate(step));
  EXPECT_EQ(events_of(*journal, 1501).size(), 1U);
}

TEST_P(Conformance, AnEventThatCannotBeStoredLeavesNothingBehind) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  Directive second = directive(1);
  second.direction = "another";
  EXPECT_FALSE(journal->append(second, {"half of an event"})) << "a step is decided once";
  EXPECT_EQ(journal->events(), 7);
  EXPECT_FALSE(journal->blob(sha256_hex("half of an event")));
  EXPECT_EQ((*journal->step(1))->direction, directive(1).direction);
  EXPECT_EQ((*journal->step(1))->title, "title 1");
  EXPECT_TRUE(journal->append(directive(2)));
  EXPECT_EQ(events_of(*journal).size(), 8U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Conformance, testing::ValuesIn(all_kinds()),
                         [](const auto& kind) { return kind.param.name; });

} // namespace kernevo::store
