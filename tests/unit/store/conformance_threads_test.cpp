#include "conformance.h"

#include <atomic>
#include <thread>

namespace kernevo::store {

TEST_P(Conformance, ThreadsMayUseItTogether) {
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

TEST_P(Conformance, ThreadsThatAppendGetNumbersWithoutGaps) {
  auto journal = create();
  {
    std::vector<std::jthread> threads;
    for (Step t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (Step i = 0; i < 25; ++i)
          EXPECT_TRUE(journal->append(directive(100 * t + i), {source_of(i)}));
      });
  }
  EXPECT_EQ(journal->events(), 100);
  std::vector<Step> next(4, 0);
  std::int64_t expected = 1;
  for (const StoredEvent& stored : events_of(*journal)) {
    EXPECT_EQ(stored.number, expected++);
    const Step step = std::get<Directive>(stored.event).step;
    EXPECT_EQ(step % 100, next[step / 100]++) << "each thread's are in its order";
  }
}

// Each with a journal of its own, as other processes have.
TEST_P(Conformance, ReadersBesideAWriterSeeWholeTransactionsOnly) {
  auto writer = create();
  write_steps(*writer, 0, 1);
  std::atomic<bool> over = false;
  std::atomic<int> looks = 0;
  std::vector<std::jthread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      std::size_t seen = 0;
      for (bool last = false; !last; ++looks) {
        last = over;
        const auto journal = kind_->open(kRun, Journal::Access::read);
        ASSERT_TRUE(journal) << format_error(journal.error());
        const auto events = events_of(**journal);
        EXPECT_GE(events.size(), seen) << "nothing goes away again";
        seen = events.size();
        for (std::size_t i = 0; i < events.size(); ++i)
          EXPECT_EQ(events[i].number, static_cast<std::int64_t>(i + 1));
        for (const StoredEvent& stored : events)
          if (const auto* c = std::get_if<Candidate>(&stored.event)) {
            const auto blob = (*journal)->blob(c->source);
            EXPECT_TRUE(blob && *blob == source_of(c->step)) << "an event comes with its blob";
            const auto row = (*journal)->step(c->step);
            EXPECT_TRUE(row && *row && (*row)->source == c->source) << "and with its index";
          }
      }
      EXPECT_EQ(seen, 1U + 3 * 40);
    });
  write_steps(*writer, 1, 40);
  over = true;
  readers.clear();
  EXPECT_GE(looks, 3);
}

} // namespace kernevo::store
