#include "kernevo/programs/judge_program.h"

#include "kernevo/base/files.h"
#include "kernevo/base/temporary_folder.h"
#include "scripted_stage.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using test::honest;
using test::sizes;

class JudgeProgram : public testing::Test {
protected:
  ProgramCheck check(test::StageScript& script, const std::string& source = "import triton\n") {
    auto result = try_check(script, source);
    EXPECT_TRUE(result) << (result ? "" : format_error(result.error()));
    return result ? std::move(*result) : ProgramCheck{};
  }

  Result<ProgramCheck> try_check(test::StageScript& script, const std::string& source) {
    KERNEVO_TRY(folder, TemporaryFolder::make());
    options.program.file = folder.path() / "program.py";
    KERNEVO_CHECK(write_file_atomically(options.program.file, source));
    auto jobs = test::jobs_of(script);
    return check_program(jobs, options);
  }

  static std::size_t count(const test::StageScript& script, const std::string& job) {
    const auto jobs = script.jobs();
    return static_cast<std::size_t>(std::count(jobs.begin(), jobs.end(), job));
  }

  ProgramCheckOptions options;
};

TEST_F(JudgeProgram, AnHonestProgramClimbsToItsOwnSizes) {
  auto script = honest({sizes("small", 4), sizes("odd", 7), sizes("real", 1024)});
  const ProgramCheck made = check(script);
  EXPECT_TRUE(made.verdict.correct) << made.verdict.summary;
  EXPECT_EQ(made.verdict.rung, Rung::real_shapes);
  EXPECT_EQ(made.verdict.cases.size(), 3U);
  EXPECT_EQ(made.language, ProgramLanguage::triton);
}

TEST_F(JudgeProgram, SmallSizesAreRunWithEverySanitizer) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  check(script);
  std::vector<std::string> modes;
  for (const Json& request : script.asked)
    if (request.at("do") == "replay")
      modes.push_back(request.at("mode"));
  EXPECT_EQ(modes, (std::vector<std::string>{"sanitize", "whole"}));
}

TEST_F(JudgeProgram, WrongNumbersAtEverySizeAreWrong) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  script.replies["compare"] = [](const Json&) { return test::mismatch(); };
  const ProgramCheck made = check(script);
  EXPECT_FALSE(made.verdict.correct);
  EXPECT_EQ(made.verdict.fault, FaultKind::correctness_mismatch);
  ASSERT_TRUE(made.verdict.mismatch);
  EXPECT_EQ(made.verdict.mismatch->index, (std::vector<std::int64_t>{1, 2}));
}

TEST_F(JudgeProgram, AProgramMadeForTheTasksOwnSizesIsJudgedThere) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  script.replies["record"] = [&script, record = script.replies["record"],
                              seen = 0](const Json& request) mutable {
    return ++seen == 1 ? test::fault("raised", "shape '[1024, 16]' is invalid", "program.py:3")
                       : record(request);
  };
  const ProgramCheck made = check(script);
  EXPECT_TRUE(made.verdict.correct) << made.verdict.summary;
  ASSERT_EQ(made.verdict.cases.size(), 1U);
  EXPECT_NE(made.verdict.warnings.back().find("made for the task's own sizes"), std::string::npos);
}

TEST_F(JudgeProgram, WhatFailsAtSmallSizesAndIsTooLargeToRunIsUnprovenWhereItNamesItsSize) {
  const auto run = [&](const std::string& source) {
    auto script = honest({sizes("small", 4), sizes("real", 1 << 28)});
    script.replies["compare"] = [](const Json&) { return test::mismatch(); };
    return check(script, source).verdict;
  };
  EXPECT_EQ(run("import triton\nROWS = 268435456\n").fault, FaultKind::unproven);
  EXPECT_EQ(run("import triton\n").fault, FaultKind::correctness_mismatch);
}

TEST_F(JudgeProgram, AProgramMadeForSizesLikeItsOwnIsJudgedAtTheNearestThatCanBeRun) {
  auto script = honest(
      {sizes("small", 4), sizes("odd", 7), sizes("scaled", 1 << 16), sizes("real", 1 << 28)});
  script.replies["record"] = [record = script.replies["record"],
                              seen = 0](const Json& request) mutable {
    return ++seen == 2 ? test::fault("raised", "its blocks do not divide 7 rows") : record(request);
  };
  script.replies["replay"] = [](const Json& request) {
    const bool priced = request.at("mode") == "priced";
    return Json{{"outputs", priced ? Json() : Json("outputs.pt")},
                {"findings", Json::array()},
                {"report", test::report(request.at("inputs").is_null() ? 30e6 : 20e3)}};
  };
  const ProgramCheck made = check(script);
  EXPECT_TRUE(made.verdict.correct) << made.verdict.summary;
  ASSERT_EQ(made.verdict.cases.size(), 1U);
  EXPECT_EQ(made.verdict.cases[0].case_id, "65536x16");
}

TEST_F(JudgeProgram, AFindingOfTheReplayIsAFault) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  script.replies["replay"] = [](const Json&) {
    return Json{{"outputs", "outputs.pt"},
                {"findings", {{{"kind", "shared_race"}, {"text", "two warps"}, {"kernel", "k"}}}},
                {"report", test::report(1e6)}};
  };
  const ProgramCheck made = check(script);
  EXPECT_EQ(made.verdict.fault, FaultKind::race_or_sync_error);
  ASSERT_TRUE(made.verdict.finding);
  EXPECT_EQ(made.verdict.finding->kernel, "k");
}

TEST_F(JudgeProgram, WhatReadsBackIsRecordedAgainWithItsResults) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  script.replies["record"] = [record = script.replies["record"]](const Json& request) {
    Json reply = record(request);
    reply["reads_back"] = true;
    return reply;
  };
  EXPECT_TRUE(check(script).verdict.correct);
  EXPECT_EQ(count(script, "record"), 4U);
  script.asked.clear();
  script.replies["compare"] = [](const Json&) { return test::mismatch(); };
  EXPECT_EQ(check(script).verdict.fault, FaultKind::unproven);
}

TEST_F(JudgeProgram, ATaskThatDoesNotRunIsTheTasksFault) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  script.replies["prepare"] = [](const Json&) { return test::fault("raised", "no such layer"); };
  const auto result = try_check(script, "import triton\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::input);
}

TEST_F(JudgeProgram, WhatTheVirtualGpuLacksIsNobodysVerdict) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  script.replies["record"] = [](const Json&) {
    return test::fault("unsupported", "aten::cholesky is not on the virtual GPU");
  };
  const auto result = try_check(script, "import triton\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unsupported);
}

TEST_F(JudgeProgram, AProgramWithoutKernelsCanBeRefused) {
  auto script = honest({sizes("small", 4), sizes("real", 1024)});
  script.replies["record"] = [record = script.replies["record"]](const Json& request) {
    Json reply = record(request);
    reply["launches"] = 0;
    return reply;
  };
  EXPECT_TRUE(check(script).verdict.correct);
  options.require_kernels = true;
  EXPECT_EQ(check(script).verdict.fault, FaultKind::interface_contract_error);
}

// Too large to run: 17 GB of tensors.
TEST_F(JudgeProgram, SizesTooLargeToRunArePricedAndHeldAgainstThoseThatWereRun) {
  const auto run = [&](double large_ns) {
    auto script = honest({sizes("small", 4), sizes("scaled", 1 << 16), sizes("real", 1 << 28)});
    script.replies["replay"] = [large_ns](const Json& request) {
      const bool priced = request.at("mode") == "priced";
      const bool own = priced && request.at("inputs").is_null();
      return Json{{"outputs", priced ? Json() : Json("outputs.pt")},
                  {"findings", Json::array()},
                  {"report", test::report(own ? large_ns : 20e3)}};
    };
    return check(script).verdict;
  };
  const Verdict honest_one = run(30e6);
  EXPECT_TRUE(honest_one.correct) << honest_one.summary;
  EXPECT_EQ(run(50e3).fault, FaultKind::unproven); // nothing is done at the task's own sizes
}

} // namespace
} // namespace kernevo
