// A journal of twenty thousand events; build/bench_evolve does a million.
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/store/open_journal.h"
#include "synthetic_run.h"

#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kernevo::evolve {
namespace {

// Of this process alone: others may be busy.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(Scale, ALongRunStaysFastAndItsStateSmall) {
  // Waiting for a disk is not what is looked at.
  const std::filesystem::path memory = "/dev/shm";
  const auto folder =
      (std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) /
      fmt::format("kernevo-scale-{}", getpid());
  std::filesystem::remove_all(folder);
  {
    auto journal = *store::create_journal(folder);
    SyntheticRun run(*journal, 3);
    ASSERT_TRUE(run.begin());
    const double before = processor_seconds();
    while (journal->events() < 20'000) {
      const auto done = run.step();
      ASSERT_TRUE(done) << format_error(done.error());
    }
    const double each = (processor_seconds() - before) / static_cast<double>(run.state().told);
    EXPECT_LT(each, 0.010) << "a step is to cost 2 ms at most; five times that is a mistake";
    EXPECT_LT(to_json(run.state()).size(), 2'000'000U);
  }
  const double before = processor_seconds();
  auto journal = *store::open_journal(folder, store::Journal::Access::read);
  const auto state = fold_journal(*journal);
  ASSERT_TRUE(state);
  EXPECT_LT(processor_seconds() - before, 2) << "the snapshot spares the events";
  RunState all;
  ASSERT_TRUE(journal->read(1, [&](const store::StoredEvent& stored) {
    all.apply(stored.event);
    return true;
  }));
  EXPECT_TRUE(all == *state);
  journal.reset();
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace kernevo::evolve
