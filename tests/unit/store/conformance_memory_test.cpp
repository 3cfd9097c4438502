// What is remembered, and snapshots of the fold.
#include "conformance.h"

namespace kernevo::store {

using testing::ElementsAre;

TEST_P(Conformance, OfTwoMemoriesTheFirstStands) {
  auto journal = create();
  EXPECT_FALSE(*journal->recall("key"));
  ASSERT_TRUE(journal->remember("key", "first"));
  ASSERT_TRUE(journal->remember("key", "second"));
  EXPECT_EQ(**journal->recall("key"), "first");
  journal.reset();
  EXPECT_EQ(**reader()->recall("key"), "first");
}

TEST_P(Conformance, WhatIsRememberedIsListedByItsKeys) {
  auto journal = create();
  for (const char* key : {"b", "a/2", "a/10", "B", "b"})
    ASSERT_TRUE(journal->remember(key, "body"));
  EXPECT_THAT(*journal->remembered(), ElementsAre("B", "a/10", "a/2", "b"));
}

TEST_P(Conformance, MemoryIsNoEvent) {
  auto journal = create();
  write_steps(*journal, 0, 1);
  const std::int64_t before = journal->events();
  ASSERT_TRUE(journal->remember("key", "body"));
  EXPECT_EQ(journal->events(), before);
}

TEST_P(Conformance, TheLatestSnapshotReplacesTheOneBefore) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  EXPECT_FALSE(*journal->snapshot());
  ASSERT_TRUE(journal->put_snapshot({3, "three"}));
  ASSERT_TRUE(journal->put_snapshot({6, "six"}));
  const auto snapshot = journal->snapshot();
  ASSERT_TRUE(snapshot && *snapshot);
  EXPECT_EQ((*snapshot)->number, 6);
  EXPECT_EQ((*snapshot)->body, "six");
  ASSERT_TRUE(journal->put_snapshot({4, "four"}));
  journal.reset();
  EXPECT_EQ((*reader()->snapshot())->body, "four") << "the latest, not the one with most events";
}

TEST_P(Conformance, ASnapshotOfEventsThatAreNotThereIsNone) {
  auto journal = create();
  write_steps(*journal, 0, 1);
  ASSERT_TRUE(journal->put_snapshot({5, "five"}));
  EXPECT_FALSE(*journal->snapshot());
}

} // namespace kernevo::store
