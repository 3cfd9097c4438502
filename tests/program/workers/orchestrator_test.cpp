// Whole runs on a tiny task: real kernels, proposed by a script.
#include "kernevo/evolve/orchestrator.h"

#include "kernevo/base/hash.h"
#include "kernevo/evolve/replay.h"
#include "kernevo/store/open_journal.h"
#include "scripted_proposer.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

namespace kernevo::evolve {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

// `step` apart: threads of a warp touch as many lines. `extra` stands before the store.
std::string kernel(int step, const std::string& extra = "", const std::string& tune = "") {
  return fmt::format(
      "{}// @launch add<<<ceil_div(N, {}), {}>>>(A, B, C, N)\n"
      "extern \"C\" __global__ void add(const float* A, const float* B, float* C, int N) {{\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const int rows = N / {};\n"
      "  int at = i < rows * {} ? i % rows * {} + i / rows : i;\n"
      "  float more = 0;\n"
      "  {}\n"
      "  if (at < N) C[at] = A[at] + B[at] + more;\n"
      "}}\n",
      tune, tune.empty() ? "128" : "THREADS", tune.empty() ? "128" : "THREADS", step, step, step,
      extra);
}

const std::string kSlow = "for (int k = 1; k < 30; ++k) more += A[(at + k * 5000) % N] * 0.0f;";
const std::string kTune = "// @tune THREADS 128 256\n";

Script good_script() {
  Script script;
  script.kernels["coalesce"] = {kernel(8, "", kTune), kernel(1, "", kTune)};
  script.kernels["again"] = {kernel(8, "// the same\n", kTune)};
  script.kernels["break"] = {kernel(1, "more = 1;"), kernel(1, "this is no C;")};
  return script;
}

class OrchestratorTest : public KernelTest {
protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped())
      return;
    folder_.write("reference.cu", kernel(32, kSlow));
    const std::string task = folder_.write(
        "task.yaml", "op_name: add\nshapes: [[16384]]\ndtype: float32\ntarget_gpu: A100\n"
                     "reference_kernel: reference.cu\n");
    auto context = make_run_context(task, DeviceChoice{});
    ASSERT_TRUE(context) << format_error(context.error());
    context_ = std::move(*context);
    settings_.proposers = {"scripted"};
    settings_.first_tuning = 2;
    settings_.roofline = 10;
  }

  struct Ended {
    Result<RunState> state;
    std::vector<std::string> bodies; // without times and interruptions
    std::vector<Evaluation> told;
  };

  static Ended look(Result<RunState> state, store::Journal& journal) {
    Ended ended{std::move(state), {}, {}};
    EXPECT_TRUE(journal.read(1, [&](const store::StoredEvent& stored) {
      const auto* stopped = std::get_if<RunStopped>(&stored.event);
      if (!std::holds_alternative<RunResumed>(stored.event) &&
          (stopped == nullptr || stopped->reason != StopReason::interrupted))
        ended.bodies.push_back(to_json(stored.event));
      if (const auto* e = std::get_if<Evaluation>(&stored.event))
        ended.told.push_back(*e);
      return true;
    }));
    const auto audit = journal.audit_blobs();
    EXPECT_TRUE(audit && audit->orphans.empty() && audit->missing.empty());
    return ended;
  }

  static Panel panel(const Script& script, store::Journal& journal) {
    std::vector<std::unique_ptr<propose::Proposer>> proposers;
    proposers.push_back(std::make_unique<ScriptedProposer>(script));
    return {std::move(proposers), journal};
  }

  RunStarted started() const {
    RunStarted started;
    started.run = "test";
    started.task = sha256_hex(context_.task_text);
    started.context = context_.identity;
    started.settings = settings_;
    return started;
  }

  Ended run(const std::string& name, const Script& script, unsigned jobs = 2) {
    auto journal = store::create_journal(folder_.path() / name);
    EXPECT_TRUE(journal);
    Panel people = panel(script, **journal);
    OrchestratorOptions options;
    options.jobs = jobs;
    return look(start_run(context_, started(), **journal, people, options), **journal);
  }

  // Remembers nothing, and counts what was found out how often.
  class Counter : public store::Memo {
  public:
    Result<std::optional<std::string>> recall(const std::string&) override { return std::nullopt; }
    Result<void> remember(const std::string& key, std::string_view) override {
      const std::lock_guard lock(mutex_);
      ++times_[key];
      return {};
    }
    std::map<std::string, int> times() {
      const std::lock_guard lock(mutex_);
      return times_;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int> times_;
  };

  // Stopped by the user after so many looks, and resumed, until it ends.
  Ended run_in_pieces(const std::string& name, const Script& script, int looks, int& pieces,
                      store::Memo& counter) {
    auto created = store::create_journal(folder_.path() / name);
    EXPECT_TRUE(created);
    std::unique_ptr<store::Journal> journal = std::move(*created);
    for (pieces = 1; pieces < 200; ++pieces) {
      int seen = 0;
      OrchestratorOptions options;
      options.jobs = 2;
      options.shared = &counter;
      options.observer = [&](const RunEvent* event, const RunProgress&) {
        seen += event == nullptr ? 0 : 1;
      };
      options.interrupted = [&] { return seen >= looks; };
      Panel people = panel(script, *journal);
      auto state = pieces == 1 ? start_run(context_, started(), *journal, people, options)
                               : resume_run(context_, *journal, people, options);
      EXPECT_TRUE(state) << format_error(state.error());
      if (!state || !can_go_on(*state))
        return look(std::move(state), *journal);
      // As another process would see it.
      journal.reset();
      journal =
          std::move(*store::open_journal(folder_.path() / name, store::Journal::Access::write));
    }
    ADD_FAILURE() << "does not end";
    return look(fold_journal(*journal), *journal);
  }

  const TestFolder folder_;
  RunContext context_;
  RunSettings settings_;
};

TEST_F(OrchestratorTest, AFasterKernelIsFoundAndEveryOutcomeTold) {
  const Ended ended = run("a", good_script());
  ASSERT_TRUE(ended.state) << format_error(ended.state.error());
  EXPECT_GT(ended.state->speedup(), 1.5);
  EXPECT_EQ(ended.state->best()->candidate.genes, std::vector<std::string>{"coalesce"});
  EXPECT_EQ(ended.state->outcomes.at("duplicate"), 1U);
  EXPECT_EQ(ended.state->outcomes.at("wrong"), 1U);
  EXPECT_EQ(ended.state->outcomes.at("compile_failed"), 1U);
  ASSERT_TRUE(ended.state->stopped);
  EXPECT_EQ(ended.state->stopped->reason, StopReason::exhausted);
  for (const Evaluation& e : ended.told) {
    if (e.outcome == StepOutcome::duplicate)
      continue; // of one that was under way, too, it may have been timed
    EXPECT_EQ(e.objective.has_value(), is_right(e.outcome)) << name_of(e.outcome);
  }
  // And its decisions follow from the journal.
  auto journal = store::open_journal(folder_.path() / "a", store::Journal::Access::read);
  ASSERT_TRUE(journal);
  Panel people = panel(good_script(), **journal);
  const auto replayed = replay_run(**journal, people);
  ASSERT_TRUE(replayed);
  EXPECT_THAT(replayed->differences, IsEmpty());
  EXPECT_GT(replayed->decisions, 4U);
  EXPECT_GT(replayed->proposals, 3U);
}

TEST_F(OrchestratorTest, TheSameSeedGivesTheSameJournalOnAnyNumberOfThreads) {
  const Ended one = run("one", good_script(), 1);
  const Ended four = run("four", good_script(), 4);
  ASSERT_TRUE(one.state && four.state);
  EXPECT_EQ(one.bodies, four.bodies);
  EXPECT_EQ(to_json(*one.state), to_json(*four.state));
}

TEST_F(OrchestratorTest, SlowProposersDoNotMakeItDependOnTiming) {
  Script slow = good_script();
  slow.immediate = false;
  slow.milliseconds = 60;
  const Ended one = run("one", slow, 1);
  const Ended four = run("four", slow, 4);
  ASSERT_TRUE(one.state && four.state);
  EXPECT_EQ(one.bodies, four.bodies);
  EXPECT_GT(one.state->speedup(), 1.5);
}

TEST_F(OrchestratorTest, StoppedAnywhereAndResumedItEndsTheSame) {
  const Ended whole = run("whole", good_script());
  ASSERT_TRUE(whole.state);
  for (const int looks : {2, 5}) {
    SCOPED_TRACE(looks);
    int pieces = 0;
    Counter counter;
    const Ended parts =
        run_in_pieces("parts" + std::to_string(looks), good_script(), looks, pieces, counter);
    ASSERT_TRUE(parts.state);
    EXPECT_GT(pieces, 2);
    EXPECT_EQ(parts.bodies, whole.bodies);
    EXPECT_EQ(to_json(*parts.state), to_json(*whole.state));
    EXPECT_GT(counter.times().size(), 6U);
    // Two candidates with the same code may be timed at once; nothing else is done twice.
    for (const auto& [key, times] : counter.times())
      EXPECT_LE(times, key.starts_with("code/") ? 2 : 1) << key << " was found out again";
  }
}

TEST_F(OrchestratorTest, TheBudgetOfEvaluationsIsNeverExceeded) {
  for (const std::uint64_t budget : {1, 2, 4, 5}) {
    settings_.budget.evaluations = budget;
    const Ended ended = run("b" + std::to_string(budget), good_script());
    ASSERT_TRUE(ended.state) << format_error(ended.state.error());
    EXPECT_LE(ended.state->evaluations, budget);
    ASSERT_TRUE(ended.state->stopped);
    EXPECT_EQ(ended.state->stopped->reason, StopReason::evaluations);
  }
}

TEST_F(OrchestratorTest, TroubleTeachesNothingAndThreeInARowStopTheRun) {
  for (const bool immediate : {true, false}) {
    SCOPED_TRACE(immediate);
    Script dead = good_script();
    dead.fails = true;
    dead.immediate = immediate;
    settings_.ahead = 1;
    const Ended ended = run(immediate ? "now" : "later", dead);
    ASSERT_TRUE(ended.state) << format_error(ended.state.error());
    EXPECT_EQ(ended.state->outcomes.at("infrastructure"), 3U);
    EXPECT_EQ(ended.state->stopped->reason, StopReason::trouble);
    EXPECT_TRUE(ended.state->arms.empty());
    EXPECT_TRUE(ended.state->tabu.empty());
    EXPECT_EQ(ended.state->since_gain, 0U);
    EXPECT_THAT(ended.told.back().summary, HasSubstr("the line is dead"));
    EXPECT_TRUE(can_go_on(*ended.state)) << "when the line is back";
  }
}

TEST_F(OrchestratorTest, ATaskNothingCanImproveEndsWell) {
  Script hopeless;
  hopeless.kernels["slow"] = {kernel(32, kSlow + kSlow)};
  const Ended ended = run("a", hopeless);
  ASSERT_TRUE(ended.state) << format_error(ended.state.error());
  EXPECT_EQ(ended.state->incumbent, Step{0});
  EXPECT_EQ(ended.state->speedup(), 1);
  EXPECT_EQ(ended.state->stopped->reason, StopReason::exhausted);
  const Ended nothing = run("b", Script{});
  ASSERT_TRUE(nothing.state);
  EXPECT_EQ(nothing.state->told, 0U);
  EXPECT_EQ(nothing.state->stopped->reason, StopReason::exhausted);
}

// Each is faster than the reference than the reference and a danger somewhere.
TEST_F(OrchestratorTest, ADangerousCandidateNeverBecomesTheBest) {
  Script script;
  script.kernels["loop"] = {kernel(1, "volatile int go = 1; while (go) {}")};
  script.kernels["bounds"] = {kernel(1, "if (i == 0) more = A[N + 100000] * 0.0f;")};
  script.kernels["real"] = {kernel(1, "if (N == 16384 && i == 7) more = 1;")};
  script.kernels["hidden"] = {kernel(1, "if (N > 300 && N != 16384 && i == 7) more = 1;")};
  const Ended ended = run("a", script);
  ASSERT_TRUE(ended.state) << format_error(ended.state.error());
  EXPECT_EQ(ended.state->incumbent, Step{0});
  ASSERT_EQ(ended.told.size(), 5U);
  for (const Evaluation& e : ended.told) {
    if (e.step == 0)
      continue;
    EXPECT_TRUE(e.outcome == StepOutcome::wrong || e.outcome == StepOutcome::failed)
        << e.step << " " << name_of(e.outcome) << ": " << e.summary;
    EXPECT_FALSE(e.objective) << e.summary;
    EXPECT_FALSE(e.summary.empty());
  }
}

TEST_F(OrchestratorTest, FasterThanTheRooflineAllowsIsQuarantined) {
  context_.roofline = context_.least = Nanoseconds{1e6};
  Script script;
  script.kernels["coalesce"] = {kernel(1)};
  const Ended ended = run("a", script);
  // The reference itself is beyond it.
  ASSERT_FALSE(ended.state);
  EXPECT_THAT(format_error(ended.state.error()), HasSubstr("roofline"));
  context_.roofline.reset();
  context_.least.reset();
  const Ended plain = run("b", script);
  ASSERT_TRUE(plain.state);
  const double best = plain.state->best()->objective.value;
  const double base = plain.state->baseline->value;
  ASSERT_LT(best * 1.2, base);
  context_.roofline = context_.least = Nanoseconds{(best * 1.1 + base) / 2}; // between the two
  const Ended guarded = run("c", script);
  ASSERT_TRUE(guarded.state) << format_error(guarded.state.error());
  EXPECT_EQ(guarded.state->incumbent, Step{0});
  EXPECT_EQ(guarded.told.back().outcome, StepOutcome::quarantined);
  EXPECT_THAT(guarded.told.back().summary, HasSubstr("a bug or a cheat"));
}

TEST_F(OrchestratorTest, AWrongReferenceIsNoBaseline) {
  context_.reference_source = kernel(1, "more = 1;");
  const Ended ended = run("a", good_script());
  ASSERT_FALSE(ended.state);
  EXPECT_EQ(ended.state.error().code, ErrorCode::input);
  EXPECT_THAT(format_error(ended.state.error()), HasSubstr("cannot be the baseline"));
}

TEST_F(OrchestratorTest, ALaunchTheGpuCannotMakeIsTheCandidatesLoss) {
  Script script;
  script.kernels["wide"] = {"// @launch add<<<1, N>>>(A, B, C, N)\n"
                            "extern \"C\" __global__ void add(const float* A, const float* B, "
                            "float* C, int N) {\n"
                            "  if (threadIdx.x < N) C[threadIdx.x] = A[threadIdx.x] + "
                            "B[threadIdx.x];\n}\n"};
  const Ended ended = run("a", script);
  ASSERT_TRUE(ended.state) << format_error(ended.state.error());
  EXPECT_FALSE(ended.state->outcomes.contains("infrastructure")) << ended.told.back().summary;
  EXPECT_FALSE(is_right(ended.told.back().outcome));
}

TEST_F(OrchestratorTest, AFinishedRunIsNotResumed) {
  const Script script = good_script();
  const Ended ended = run("a", script);
  auto journal = *store::open_journal(folder_.path() / "a", store::Journal::Access::write);
  const std::int64_t before = journal->events();
  Panel people = panel(script, *journal);
  const auto again = resume_run(context_, *journal, people, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(journal->events(), before);
  EXPECT_EQ(to_json(*again), to_json(*ended.state));
}

TEST_F(OrchestratorTest, ASnapshotThatCannotBeReadIsDoneWithout) {
  const Ended ended = run("a", good_script());
  auto journal = *store::open_journal(folder_.path() / "a", store::Journal::Access::write);
  ASSERT_TRUE(journal->put_snapshot({journal->events(), "{\"from\": \"another version\"}"}));
  const auto state = fold_journal(*journal);
  ASSERT_TRUE(state) << format_error(state.error());
  EXPECT_EQ(to_json(*state), to_json(*ended.state));
}

} // namespace
} // namespace kernevo::evolve
