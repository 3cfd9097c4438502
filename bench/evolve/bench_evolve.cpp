// A synthetic run of a given length: what a step costs beside building and running kernels, and
// what a journal of that length costs to open. Tab-separated `name ours goal ratio`, in
// milliseconds of processor time; below 1 the goal is met.
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/store/open_journal.h"
#include "synthetic_run.h"

#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace kernevo; // NOLINT(google-build-using-namespace): a program of one file

constexpr double kStepGoal = 2;    // ms per candidate
constexpr double kOpenGoal = 2000; // ms: a person waits for it
constexpr int kLookups = 1000;

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

void report(const std::string& name, double ours, double goal) {
  fmt::print("{}\t{:.3f}\t{:.0f}\t{:.4f}\n", name, ours, goal, ours / goal);
}

Result<void> write(const fs::path& folder, std::int64_t events) {
  KERNEVO_TRY(journal, store::create_journal(folder));
  SyntheticRun run(*journal, 1);
  KERNEVO_CHECK(run.begin());
  const double before = processor_ms();
  std::uint64_t steps = 0;
  for (; journal->events() < events; ++steps)
    KERNEVO_CHECK(run.step());
  report("step: decide, append, fold", (processor_ms() - before) / static_cast<double>(steps),
         kStepGoal);
  return {};
}

Result<void> read(const fs::path& folder) {
  double before = processor_ms();
  KERNEVO_TRY(journal, store::open_journal(folder, store::Journal::Access::read));
  KERNEVO_TRY(state, evolve::fold_journal(*journal));
  report("open and fold, with the snapshot", processor_ms() - before, kOpenGoal);
  before = processor_ms();
  const Step every = std::max<Step>(state.next_step / kLookups, 1);
  for (Step step = 0; step < state.next_step; step += every) {
    KERNEVO_TRY(row, journal->step(step));
    KERNEVO_CHECK(journal->evaluation(step));
    if (row && !row->source.empty())
      KERNEVO_CHECK(journal->blob(row->source));
  }
  report("1000 steps looked up with source", processor_ms() - before, kOpenGoal);
  before = processor_ms();
  evolve::RunState all;
  KERNEVO_CHECK(journal->read(1, [&](const store::StoredEvent& stored) {
    all.apply(stored.event);
    return true;
  }));
  report("fold of all events, without", processor_ms() - before, kOpenGoal);
  if (!(all == state))
    return fail(ErrorCode::infrastructure, "the snapshot and the events differ");
  fmt::print(stderr, "{} events, {} steps, state of {} bytes\n", journal->events(), state.told,
             to_json(state).size());
  return {};
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("A synthetic run: what steps and long journals cost");
  std::int64_t events = 20'000;
  std::string folder;
  app.add_option("--events", events, "Length of the journal")->capture_default_str();
  app.add_option("--out", folder, "Keep the run in this folder, which must not be there");
  CLI11_PARSE(app, argc, argv);
  const bool keep = !folder.empty();
  const fs::path at = keep ? fs::path(folder)
                           : fs::temp_directory_path() / fmt::format("kernevo-bench-{}", getpid());
  fmt::print("name\tours\tgoal\tratio\n");
  auto done = write(at, events);
  if (done)
    done = read(at);
  std::error_code ignored;
  if (!keep)
    fs::remove_all(at, ignored);
  if (!done)
    fmt::print(stderr, "bench_evolve: {}\n", format_error(done.error()));
  return done ? 0 : 3;
}
