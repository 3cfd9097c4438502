#include "conformance.h"

#include <limits>

namespace kernevo::store {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(Conformance, TheIndexAnswersForSteps) {
  auto journal = create();
  write_steps(*journal, 0, 4);
  ASSERT_TRUE(journal->append(directive(4)));
  const auto row = journal->step(2);
  ASSERT_TRUE(row && *row);
  EXPECT_EQ((*row)->mode, "exploit");
  EXPECT_EQ((*row)->proposer, "playbook");
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

TEST_P(Conformance, TheIndexIsTheSameAfterReopening) {
  auto journal = create();
  write_steps(*journal, 0, 4);
  const auto before = journal->steps(0, 10);
  journal.reset();
  ASSERT_TRUE(before);
  EXPECT_THAT(*before, SizeIs(4));
  EXPECT_EQ(*reader()->steps(0, 10), *before);
}

TEST_P(Conformance, StepsComeInTheOrderOfTheirNumbers) {
  auto journal = create();
  for (const Step step : {9, 100, 10, 1, 99})
    ASSERT_TRUE(journal->append(directive(step)));
  const auto numbers = [&](Step from, std::size_t limit) {
    std::vector<Step> found;
    const auto rows = journal->steps(from, limit);
    EXPECT_TRUE(rows);
    for (const StepRow& row : *rows)
      found.push_back(row.step);
    return found;
  };
  EXPECT_THAT(numbers(0, 10), ElementsAre(1, 9, 10, 99, 100));
  EXPECT_THAT(numbers(10, 2), ElementsAre(10, 99));
  EXPECT_THAT(numbers(0, 0), IsEmpty());
}

TEST_P(Conformance, BoundsMayBeAsLargeAsNumbersGo) {
  constexpr Step kLast = std::numeric_limits<Step>::max();
  auto journal = create();
  write_steps(*journal, 0, 2);
  EXPECT_THAT(*journal->steps(kLast, 10), IsEmpty());
  EXPECT_THAT(*journal->steps(0, std::numeric_limits<std::size_t>::max()), SizeIs(2));
  EXPECT_FALSE(*journal->step(kLast));
  EXPECT_EQ(*journal->find_source(candidate(1).source, kLast), Step{1});
  EXPECT_EQ(*journal->find_identity("identity 1", kLast), Step{1});
}

TEST_P(Conformance, WhoWasFirstIsFoundBeforeABoundOnly) {
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

TEST_P(Conformance, ACandidateWithoutADirectiveHasNoLineInTheIndex) {
  auto journal = create();
  ASSERT_TRUE(journal->append(candidate(5), {source_of(5)}));
  ASSERT_TRUE(journal->append(evaluation(5), {profile_of(5)}));
  EXPECT_FALSE(*journal->step(5));
  EXPECT_FALSE(*journal->find_source(candidate(5).source, 10));
  EXPECT_EQ(**journal->candidate(5), candidate(5)) << "the event itself is there";
}

} // namespace kernevo::store
