#include "kernevo/programs/stage_jobs.h"

#include "kernevo/base/temporary_folder.h"
#include "scripted_stage.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using test::honest;
using test::jobs_of;

ProgramTask a_task() {
  ProgramTask task;
  task.file = "task.py";
  return task;
}

TEST(StageJobs, ADescriptionIsReadWhole) {
  auto script = honest({test::sizes("small", 4), test::sizes("real", 1024)});
  auto jobs = jobs_of(script);
  const auto described = jobs.describe(a_task());
  ASSERT_TRUE(described && *described);
  ASSERT_EQ((*described)->cases.size(), 2U);
  EXPECT_EQ((*described)->cases[1].inputs, "1024x16 float32");
  EXPECT_EQ((*described)->cases[1].outputs, 1024U * 16);
  EXPECT_EQ((*described)->find(CaseKind::odd), nullptr);
  EXPECT_EQ((*described)->mode, "train");
}

TEST(StageJobs, ADescriptionWithoutTheTasksOwnSizesIsRefused) {
  auto script = honest({test::sizes("small", 4)});
  auto jobs = jobs_of(script);
  const auto described = jobs.describe(a_task());
  ASSERT_FALSE(described);
  EXPECT_EQ(described.error().code, ErrorCode::input);
}

TEST(StageJobs, AFaultKeepsItsPlaceAndItsKind) {
  auto script = honest({});
  script.replies["describe"] = [](const Json&) {
    return test::fault("task", "name 'Modle' is not defined", "task.py:12");
  };
  auto jobs = jobs_of(script);
  const auto described = jobs.describe(a_task());
  ASSERT_TRUE(described);
  ASSERT_FALSE(*described);
  EXPECT_EQ(described->error().kind, StageFaultKind::task);
  ASSERT_TRUE(described->error().where);
  EXPECT_EQ(described->error().where->file, "task.py");
  EXPECT_EQ(described->error().where->line, 12);
  EXPECT_EQ(exit_code(error_of(described->error()).code), 2);
}

TEST(StageJobs, AReplyToAnotherQuestionIsNoReply) {
  auto script = honest({test::sizes("real", 4)});
  const auto describe = script.replies["describe"];
  script.replies["describe"] = [=](const Json& request) {
    Json reply = describe(request);
    reply["id"] = 77;
    return reply;
  };
  auto jobs = jobs_of(script);
  EXPECT_FALSE(jobs.describe(a_task()));
}

TEST(StageJobs, NumbersThatJsonHasNotAreRead) {
  auto script = honest({});
  script.replies["compare"] = [](const Json&) { return test::mismatch(); };
  auto jobs = jobs_of(script);
  const auto compared = jobs.compare(a_task(), "expected.pt", "outputs.pt", false);
  ASSERT_TRUE(compared && *compared);
  EXPECT_FALSE((*compared)->right);
  ASSERT_TRUE((*compared)->worst);
  EXPECT_TRUE(std::isnan((*compared)->worst->actual));
  EXPECT_TRUE(std::isinf((*compared)->worst_ratio));
}

TEST(StageJobs, WhatTheRecorderSaidGoesToTheReplayAsItWas) {
  auto script = honest({});
  auto jobs = jobs_of(script);
  const auto place = TemporaryFolder::make();
  ASSERT_TRUE(place);
  PreparedCase prepared;
  const auto recorded = jobs.record(a_task(), {"program.py"}, prepared, 1, false, place->path());
  ASSERT_TRUE(recorded && *recorded);
  const auto replayed =
      jobs.replay(a_task(), **recorded, "inputs.pt", ReplayMode::sanitize, place->path());
  ASSERT_TRUE(replayed && *replayed);
  const Json& request = script.asked.back();
  EXPECT_EQ(request.at("trace"), "trace");
  EXPECT_EQ(request.at("record").at("structure"), "tensor");
  EXPECT_EQ(request.at("mode"), "sanitize");
  EXPECT_FALSE(request.contains("secret")); // what the stage reads, candidates may find
  EXPECT_EQ((*replayed)->report.kernels.at(0).kernel, "add");
}

} // namespace
} // namespace kernevo
