#include "kernevo/evaluate/visible.h"

#include "kernevo/model/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kSource = "// @launch f<<<1, 32>>>(x, y)\n__global__ void f() {}\n";

CheckedCase case_of(std::string id, bool hidden) {
  CheckedCase one;
  one.case_id = std::move(id);
  one.distribution = "nominal";
  one.seed = 424242;
  one.hidden = hidden;
  one.blocks = one.blocks_run.emplace(4);
  one.elements = one.elements_checked.emplace(hidden ? 4181 : 64);
  one.worst_error_ratio = hidden ? 0.37 : 0.02;
  return one;
}

Verdict correct(bool with_hidden) {
  Verdict verdict;
  verdict.correct = true;
  verdict.rung = Rung::real_shapes;
  verdict.cases = {case_of("64", false)};
  if (with_hidden)
    verdict.cases.push_back(case_of("37x113", true));
  verdict.summary = "correct on 2 cases, 4245 elements compared, worst error 37 % of its tolerance";
  return verdict;
}

Verdict seen(const Verdict& verdict) {
  return visible(verdict, kSource, Audience::proposer).verdict;
}

TEST(Visible, OfATaskOnlyTheShapesThatAreOptimised) {
  Task task;
  task.shapes = {{"64x64", {{"M", 64}, {"N", 64}}, 1, std::nullopt, false}};
  task.check_shapes = {{"37x64", {{"M", 37}, {"N", 64}}, 1, std::nullopt, false}};
  task.check_shapes_given = true;
  const Task seen = visible(task, Audience::proposer);
  EXPECT_THAT(seen.check_shapes, IsEmpty());
  EXPECT_FALSE(seen.check_shapes_given);
  EXPECT_EQ(seen.shapes, task.shapes);
  EXPECT_EQ(visible(task, Audience::owner).check_shapes, task.check_shapes);
}

// What a kernel may rely on must hold everywhere; of the others not even that they differ.
TEST(Visible, SizesInCommonAreThoseOfEveryShape) {
  Task task;
  task.shapes = {{"a", {{"M", 64}, {"N", 64}}, 1, std::nullopt, false}};
  task.check_shapes = {{"b", {{"M", 37}, {"N", 64}}, 1, std::nullopt, false}};
  EXPECT_EQ(sizes_in_common(task), (Dims{{"N", 64}}));
}

TEST(Visible, HiddenCasesAreCountedAndNothingElse) {
  const VisibleVerdict all = visible(correct(true), kSource, Audience::proposer);
  EXPECT_EQ(all.hidden_cases, 1U);
  EXPECT_FALSE(all.diagnosis);
  ASSERT_EQ(all.verdict.cases.size(), 1U);
  EXPECT_EQ(all.verdict.cases[0].case_id, "64");
  EXPECT_EQ(case_title(case_of("37x113", true)), "37x113 (hidden)");
  EXPECT_EQ(case_title(case_of("64", false)), "64");
}

// A kernel can make its error, its output and its time a function of the size it meets.
TEST(Visible, ErrorsOutputAndTimeOfHiddenCasesCarryNothing) {
  EXPECT_EQ(seen(correct(true)).summary,
            "correct on 2 cases (1 of them hidden), worst error 2 % of its tolerance");
  Verdict only_hidden = correct(true);
  only_hidden.cases.erase(only_hidden.cases.begin());
  EXPECT_EQ(seen(only_hidden).summary, "correct on 1 cases (1 of them hidden)");

  Verdict printed = correct(true);
  printed.printed = "M is 37\n";
  EXPECT_EQ(seen(printed).printed, "");
  printed.cases.pop_back();
  EXPECT_EQ(seen(printed).printed, "M is 37\n") << "no hidden case was run";

  CheckResult result;
  result.verdict = correct(true);
  result.seed = 424242;
  result.wall_seconds = 0.37;
  const VisibleCheck check = visible(result, kSource, Audience::proposer);
  EXPECT_FALSE(check.result.seed || check.result.wall_seconds);
  EXPECT_THAT(to_json(check), Not(HasSubstr("wall_seconds")));
  EXPECT_THAT(to_json(check), Not(HasSubstr("424242")));
  const std::string whole = to_json(visible(result, kSource, Audience::owner));
  for (const char* part : {"\"wall_seconds\":0.37", "\"seed\":424242", "37x113"})
    EXPECT_THAT(whole, HasSubstr(part));
}

// How many blocks are run of a large shape depends on what the kernel did on the small ones.
TEST(Visible, ASampleChosenAfterHiddenCasesHasNoNumbers) {
  Verdict verdict = correct(true);
  verdict.cases[0].blocks = 1000;
  verdict.cases[0].blocks_run = 37;
  EXPECT_FALSE(seen(verdict).cases[0].blocks_run || seen(verdict).cases[0].elements_checked);
  verdict.cases.pop_back();
  EXPECT_EQ(seen(verdict).cases[0].blocks_run, 37U);
}

// So does how long it may run there before it is stopped.
TEST(Visible, ALimitThatWasReachedIsNoNumber) {
  Verdict verdict = correct(true);
  verdict.correct = false;
  verdict.fault = FaultKind::candidate_runtime_error;
  verdict.rung = Rung::real_shapes;
  verdict.failing_case = verdict.cases.front();
  verdict.finding.emplace();
  verdict.finding->kind = FindingKind::instruction_budget;
  verdict.finding->message = "kernel 'add' executed more than 373737 warp instructions";
  verdict.summary = verdict.finding->message;
  const VisibleVerdict all = visible(verdict, kSource, Audience::proposer);
  EXPECT_THAT(to_json(all.verdict), Not(HasSubstr("373737")));
  EXPECT_THAT(all.diagnosis->summary, HasSubstr("too many instructions"));
  EXPECT_THAT(to_json(diagnose(verdict, kSource)), Not(HasSubstr("373737")));
  EXPECT_THAT(to_json(visible(verdict, kSource, Audience::owner).verdict), HasSubstr("373737"));
}

TEST(Visible, WarningsOfHiddenCasesStayWithTheOwner) {
  Verdict verdict = correct(true);
  verdict.warnings = {"spills 37 bytes", "prints more than 1 MB in case 37x113; dropped"};
  verdict.hidden_warnings = {"passes only by the declared tolerance: 41 times"};
  EXPECT_THAT(seen(verdict).warnings, ElementsAre("spills 37 bytes"));
  EXPECT_THAT(seen(verdict).hidden_warnings, IsEmpty());
  const Verdict all = visible(verdict, kSource, Audience::owner).verdict;
  EXPECT_EQ(all.warnings.size() + all.hidden_warnings.size(), 3U);
}

// The number of cases before the one that failed would say which shape it was.
TEST(Visible, AHiddenFaultDoesNotSayWhichOfThemItWas) {
  Verdict verdict = correct(true);
  verdict.correct = false;
  verdict.fault = FaultKind::correctness_mismatch;
  verdict.fault_class = FaultClass::candidate;
  verdict.rung = Rung::hidden_shapes;
  verdict.failing_case = verdict.cases.back();
  verdict.mismatch = Mismatch{"y", {36}, 1, 2, 0.1};
  verdict.summary = "y[36] is 2 (case 37x113)";
  const VisibleVerdict all = visible(verdict, kSource, Audience::proposer);
  EXPECT_FALSE(all.hidden_cases);
  ASSERT_TRUE(all.diagnosis);
  EXPECT_TRUE(all.diagnosis->hidden);
  EXPECT_EQ(all.verdict.summary, all.diagnosis->summary);
  EXPECT_FALSE(all.verdict.failing_case || all.verdict.mismatch || all.verdict.finding);
  EXPECT_THAT(to_json(all.verdict), Not(HasSubstr("37")));
  EXPECT_THAT(to_json(all.verdict), Not(HasSubstr("36")));
}

TEST(Visible, ErrorsOfHiddenCasesKeepTheirKindAlone) {
  const Error error{ErrorCode::input, "the reference kernel fails on case 37x113: reads y[41]",
                    Place{"ref.cu", 37, 1}, "mend it"};
  const Error marked = of_hidden_case(error);
  EXPECT_THAT(format_error(visible(marked, Audience::owner)), HasSubstr("fails on case 37x113"));
  const Error seen = visible(marked, Audience::proposer);
  EXPECT_EQ(seen.code, ErrorCode::input);
  EXPECT_THAT(format_error(seen), Not(testing::ContainsRegex("37|41|mend")));
  EXPECT_EQ(visible(error, Audience::proposer).message, error.message);
  const Result<int> failed =
      visible(Result<int>(tl::unexpected<Error>(marked)), Audience::proposer);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, seen.message);
  EXPECT_EQ(visible(Result<int>(3), Audience::proposer), 3);
}

TEST(Visible, OnlyTimesOfTheTasksOwnShapes) {
  Task task;
  task.shapes = {{"64", {{"N", 64}}, 1, std::nullopt, false}};
  BenchResult bench;
  bench.cases.resize(2);
  bench.cases[0].case_id = "64";
  bench.cases[1].case_id = "37";
  EXPECT_EQ(visible(bench, task, Audience::proposer).cases.size(), 1U);
  EXPECT_EQ(visible(bench, task, Audience::owner).cases.size(), 2U);
}

TEST(Visible, ReasonsOfSearchesAndRunsStayWithTheOwner) {
  WrongKernel wrong;
  wrong.summary = "y[36] is 2 (case 37x113)";
  wrong.verdict = correct(true);
  wrong.verdict->fault = FaultKind::correctness_mismatch;
  wrong.verdict->failing_case = wrong.verdict->cases.back();
  EXPECT_THAT(visible(wrong, kSource, Audience::proposer).summary, Not(HasSubstr("37")));
  EXPECT_EQ(visible(wrong, kSource, Audience::owner).summary, wrong.summary);

  search::Trial trial;
  trial.reason = "correctness_mismatch: y[36]";
  for (const auto outcome :
       {search::Outcome::wrong, search::Outcome::run, search::Outcome::timeout}) {
    trial.outcome = outcome;
    EXPECT_EQ(visible(trial, Audience::proposer).reason, "");
    EXPECT_EQ(visible(trial, Audience::owner).reason, trial.reason);
  }
  trial.outcome = search::Outcome::compile;
  EXPECT_EQ(visible(trial, Audience::proposer).reason, trial.reason);

  Evaluation evaluation;
  evaluation.outcome = StepOutcome::duplicate;
  evaluation.summary = "compiles to the same kernel as step 4";
  EXPECT_EQ(visible(evaluation, Audience::proposer), evaluation);
  evaluation.outcome = StepOutcome::wrong;
  evaluation.fault = FaultKind::correctness_mismatch;
  evaluation.summary = "y[36] is 2 (case 37x113)";
  EXPECT_EQ(visible(evaluation, Audience::proposer).summary, "");
  EXPECT_EQ(visible(evaluation, Audience::owner), evaluation);
}

} // namespace
} // namespace kernevo
