#include "kernevo/report/tensorboard.h"

#include "kernevo/base/files.h"
#include "record_reader.h"
#include "sample_run.h"

#include <fstream>
#include <gtest/gtest.h>

namespace kernevo::report {
namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++count;
  return count;
}

using Series = std::map<std::string, std::vector<std::pair<std::int64_t, float>>>;

Series series_of(const std::filesystem::path& file) {
  Series series;
  for (const reader::Event& event : reader::events(*read_text_file(file)))
    for (const auto& [tag, value] : event.scalars)
      series[tag].emplace_back(event.step, value);
  return series;
}

TEST(TensorboardLog, TellsTheSameLiveAndFromTheJournal) {
  SampleRun run("tensorboard");
  const auto folder = run.folder() / "tensorboard";
  std::filesystem::path live_file;
  Series live;
  {
    const auto log = TensorboardLog::create(folder, run.journal(), "tensorboard");
    ASSERT_TRUE(log) << format_error(log.error());
    live_file = (*log)->path();
    const std::int64_t before = run.journal().events();
    run.candidate(0, StepOutcome::improved, 50.0);
    run.candidate(1, StepOutcome::wrong, std::nullopt);
    run.tune(1, StepOutcome::improved, 40.0);
    evolve::RunState state;
    ASSERT_TRUE(run.journal().read(1, [&](const store::StoredEvent& stored) {
      state.apply(stored.event);
      if (stored.number > before)
        (*log)->show(&stored.event, {&state, 0, false});
      return true;
    }));
    (*log)->show(nullptr, {&state, 0, false});
    EXPECT_FALSE((*log)->problem());
    live = series_of(live_file);
  }
  const auto replayed = TensorboardLog::create(folder, run.journal(), "tensorboard");
  ASSERT_TRUE(replayed);
  EXPECT_EQ(series_of((*replayed)->path()), live);
  EXPECT_EQ(files_in(folder), 1U); // nothing is there twice
  const std::vector<std::pair<std::int64_t, float>> frontier = {{0, 1.0F}, {1, 2.0F}, {3, 2.5F}};
  EXPECT_EQ(live.at("program_metrics/valid_frontier_speedup"), frontier);
}

TEST(TensorboardLog, LeavesTheFilesOfOthersAlone) {
  SampleRun run("neighbour");
  const auto folder = run.folder() / "logs";
  std::filesystem::create_directories(folder);
  for (const char* name : {"events.out.tfevents.1700000000.host", "notes.txt",
                           "events.out.tfevents.1700000000.other.neighbour.kernevo"})
    std::ofstream(folder / name) << "mine";
  std::ofstream(folder / "events.out.tfevents.1700000000.neighbour.kernevo") << "old";
  ASSERT_TRUE(TensorboardLog::create(folder, run.journal(), "neighbour"));
  EXPECT_EQ(files_in(folder), 4U);
  EXPECT_FALSE(
      std::filesystem::exists(folder / "events.out.tfevents.1700000000.neighbour.kernevo"));
}

} // namespace
} // namespace kernevo::report
