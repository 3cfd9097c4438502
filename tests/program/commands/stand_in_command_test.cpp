// Commands with --device cuda:0 behind a driver library that plays a GPU: what a person meets.
#include "../support/run_program.h"
#include "../support/test_folder.h"
#include "kernevo/base/files.h"
#include "places.h"
#include "test_needs.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StandIn : public testing::Test {
protected:
  void SetUp() override {
    if (libcuda_path().empty()) {
      skip_for_want_of("our CUDA driver library is not built here");
      return;
    }
    settings_["KERNEVO_LIBCUDA"] = libcuda_path();
    ready_ = true;
  }

  SubprocessResult kernevo(std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> settings = settings_;
    for (const auto& [name, value] : more)
      settings[name] = value;
    return run_program(program_path(), std::move(arguments), settings);
  }
  static std::string softmax(const std::string& file) {
    return source_folder() + "/examples/softmax/" + file;
  }
  std::vector<std::string> on_gpu(const std::string& command,
                                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {command, softmax("task.yaml"), softmax("online.cu"),
                                          "--device", "cuda:0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  // One line on standard error, and nothing else.
  static void expect_line(const SubprocessResult& run, int status,
                          const testing::Matcher<const std::string&>& line) {
    EXPECT_EQ(run.exit_status, status);
    EXPECT_EQ(run.output, "");
    EXPECT_EQ(std::ranges::count(run.error_output, '\n'), 1) << run.error_output;
    EXPECT_THAT(run.error_output, line);
  }

  bool ready_ = false;
  std::map<std::string, std::string> settings_;
  const TestFolder folder_;
};

TEST_F(StandIn, WhatWasLoadedIsSaid) {
  if (!ready_)
    return;
  const SubprocessResult bench = kernevo(on_gpu("bench", {"--json"}));
  ASSERT_EQ(bench.exit_status, 0) << bench.error_output;
  const json receipt = json::parse(bench.output)["cases"][0]["timing"]["receipt"];
  EXPECT_EQ(receipt["code"], json({{"form", "ptx"}, {"architecture", "sm_80"}}));
  EXPECT_EQ(receipt["cache"], "cold");
  const SubprocessResult check = kernevo(on_gpu("check"));
  EXPECT_EQ(check.exit_status, 0) << check.error_output;
  EXPECT_THAT(check.output, HasSubstr("loaded   PTX for sm_80, left to the driver"));
  const SubprocessResult text = kernevo(on_gpu("check", {"--json"}));
  EXPECT_EQ(json::parse(text.output)["code"]["form"], "ptx");
}

TEST_F(StandIn, AVirtualGpuLeavesNothingToSay) {
  if (!ready_)
    return;
  const SubprocessResult check =
      kernevo({"check", softmax("task.yaml"), softmax("online.cu"), "--gpu", "A100"});
  EXPECT_EQ(check.exit_status, 0) << check.error_output;
  EXPECT_THAT(check.output, Not(HasSubstr("loaded ")));
}

// The library would give the wall clock of this machine's processor, which is no GPU's time.
TEST_F(StandIn, TheWallClockIsNobodysTime) {
  if (!ready_)
    return;
  const auto median = [&](const std::string& clock) {
    const SubprocessResult run = kernevo(on_gpu("bench", {"--json"}), {{"KERNEVO_TIME", clock}});
    EXPECT_EQ(run.exit_status, 0) << run.error_output;
    return json::parse(run.output)["cases"][0]["timing"]["median_ns"].get<double>();
  };
  EXPECT_EQ(median("wall"), median("modelled"));
}

TEST_F(StandIn, SettingsItCannotFollowAreQuoted) {
  if (!ready_)
    return;
  expect_line(kernevo(on_gpu("bench"), {{"KERNEVO_CUDA_FAULTS", "throtle"}}), 2,
              AllOf(HasSubstr("cannot open cuda:0: KERNEVO_CUDA_FAULTS: 'throtle' is no fault"),
                    HasSubstr("did you mean 'throttle'"), Not(HasSubstr("virtual:H100"))));
  expect_line(kernevo(on_gpu("check"), {{"KERNEVO_GPU", "A1000"}}), 2,
              HasSubstr("unknown GPU 'A1000'"));
}

TEST_F(StandIn, GpusThatAreNotThereAreNamedBesideThoseThatAre) {
  if (!ready_)
    return;
  for (const char* command : {"check", "bench", "tune", "profile"}) {
    auto arguments = on_gpu(command);
    std::ranges::replace(arguments, "cuda:0", "cuda:7");
    expect_line(kernevo(arguments), 2,
                AllOf(HasSubstr("cannot open cuda:7: 1 GPU is here, counted from 0"),
                      HasSubstr("there is cuda:0 virtual A100")));
  }
}

TEST_F(StandIn, ALibraryThatIsNoneIsNamed) {
  if (!ready_)
    return;
  expect_line(kernevo(on_gpu("bench"), {{"KERNEVO_LIBCUDA", "/nowhere/libcuda.so.1"}}), 2,
              HasSubstr("/nowhere/libcuda.so.1: cannot open cuda:0: KERNEVO_LIBCUDA names no "
                        "library that loads"));
  expect_line(kernevo(on_gpu("bench"), {{"KERNEVO_LIBCUDA", "libm.so.6"}}), 3,
              AllOf(HasSubstr("is too old: it has no cuInit"), HasSubstr("update the driver")));
}

TEST_F(StandIn, HotCachesAreNotModelled) {
  if (!ready_)
    return;
  for (const char* command : {"bench", "tune"})
    expect_line(kernevo(on_gpu(command, {"--hot-cache"})), 2,
                HasSubstr("--hot-cache: the times of cuda:0 are modelled, all of them of cold "
                          "caches"));
  expect_line(kernevo({"evolve", softmax("task.yaml"), "--device", "cuda:0", "--hot-cache", "--out",
                       folder_.path("run")}),
              2, HasSubstr("--hot-cache"));
}

TEST_F(StandIn, ARunKeepsWhatWasLoadedAndWhereItRan) {
  if (!ready_)
    return;
  const std::string run = folder_.path("run");
  const SubprocessResult asked =
      kernevo({"ask", softmax("task.yaml"), "--device", "cuda:0", "--out", run});
  ASSERT_EQ(asked.exit_status, 0) << asked.error_output;
  const SubprocessResult told = kernevo({"tell", run, softmax("online.cu")});
  ASSERT_EQ(told.exit_status, 0) << told.output << told.error_output;
  EXPECT_THAT(told.output, HasSubstr("modelled_by_stand_in"));
  const SubprocessResult extracted = kernevo({"extract", run});
  EXPECT_THAT(extracted.output, AllOf(HasSubstr("// loaded   PTX for sm_80, left to the driver"),
                                      HasSubstr(" --device cuda:0\n")));
  const SubprocessResult replayed = kernevo({"replay", run});
  EXPECT_EQ(replayed.exit_status, 0) << replayed.output << replayed.error_output;
  ASSERT_EQ(kernevo({"report", run}).exit_status, 0);
  const auto page = read_text_file(run + "/report.html");
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr("\"PTX for sm_80, left to the driver\""));
}

} // namespace
} // namespace kernevo
