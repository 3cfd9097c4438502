#include "kernevo/run/open_run.h"

#include "run_fixture.h"
#include "toolchain_test.h"

#include <fstream>
#include <gmock/gmock.h>

namespace kernevo::run {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

bool never() {
  return false;
}

class RunTest : public RunFixture {
protected:
  static void SetUpTestSuite() { set_worker_program(program_path()); }
  static Result<std::unique_ptr<OpenRun>> begun(const RunPlan& plan) {
    KERNEVO_TRY(settled, settle(plan));
    return OpenRun::begin(std::move(settled), never);
  }
};

TEST_F(RunTest, LeavesNothingBehindWhenItNeverWentOn) {
  {
    const auto run = begun(plan());
    ASSERT_TRUE(run) << format_error(run.error());
    EXPECT_TRUE((*run)->is_new());
    EXPECT_EQ((*run)->started().run, "run");
    EXPECT_TRUE(anything_left());
  }
  EXPECT_FALSE(anything_left());
}

TEST_F(RunTest, LeavesAUsersFolderAsItWas) {
  fs::create_directories(folder_.path() / "deep/run");
  std::ofstream(folder_.path() / "deep/run/notes.txt") << "mine";
  ASSERT_TRUE(begun(plan()));
  EXPECT_TRUE(fs::exists(folder_.path() / "deep/run/notes.txt"));
  EXPECT_EQ(
      std::distance(fs::directory_iterator(folder_.path() / "deep/run"), fs::directory_iterator()),
      1);
}

TEST_F(RunTest, AModelThatDoesNotAnswerIsFoundOutFirst) {
  RunPlan models = plan();
  models.settings.proposers = {"llm"};
  ModelSettings nobody;
  nobody.name = "nobody";
  nobody.base_url = "http://127.0.0.1:1/v1";
  models.settings.llm.models = {nobody};
  models.settings.llm.patience_seconds = 0;
  const auto run = begun(models);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(anything_left());
}

TEST_F(RunTest, TakesItsNameFromTheFolderOfATaskYaml) {
  setenv("KERNEVO_RUNS", folder_.path("deep").c_str(), 1);
  RunPlan unnamed = plan();
  unnamed.folder.clear();
  const auto run = begun(unnamed);
  unsetenv("KERNEVO_RUNS");
  ASSERT_TRUE(run) << format_error(run.error());
  EXPECT_EQ((*run)->started().run, "vectors");
  EXPECT_EQ((*run)->folder(), folder_.path() / "deep/vectors");
}

TEST_F(RunTest, GoesOnAfterAStopAndOnlyWithItsOwnTask) {
  if (!needed_toolchain())
    return;
  RunPlan one = plan();
  one.settings.budget.rounds = 1;
  {
    const auto run = begun(one);
    ASSERT_TRUE(run) << format_error(run.error());
    const auto end = (*run)->go_on({});
    ASSERT_TRUE(end) << format_error(end.error());
    EXPECT_EQ(end->told, 1U);
    EXPECT_FALSE((*run)->is_new());
  }
  EXPECT_FALSE(begun(one)); // the folder holds a run
  auto stored = open_stored_run(one.folder, store::Journal::Access::write);
  ASSERT_TRUE(stored) << format_error(stored.error());
  const LlmSettings llm = stored->state.started.settings.llm;
  const auto resumed = OpenRun::resume(std::move(*stored), llm, never);
  ASSERT_TRUE(resumed) << format_error(resumed.error());
  evolve::OrchestratorOptions how;
  how.budget = RunBudget{2, {}, {}, {}, {}};
  const auto end = (*resumed)->go_on(how);
  ASSERT_TRUE(end) << format_error(end.error());
  EXPECT_EQ(end->told, 2U);
}

TEST_F(RunTest, AWrongReferenceIsNoRun) {
  if (!needed_toolchain())
    return;
  std::ofstream(folder_.path() / "vectors/reference.cu") << adding_kernel("more = 1;");
  {
    const auto run = begun(plan());
    ASSERT_TRUE(run) << format_error(run.error());
    EXPECT_FALSE((*run)->go_on({}));
  }
  EXPECT_FALSE(anything_left());
}

} // namespace
} // namespace kernevo::run
