// `kernevo run -- PROGRAM` through the real program.
#include "places.h"
#include "run_program.h"
#include "test_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

std::string built(const std::string& name) {
  return (fs::path(program_path()).parent_path() / "tests" / "program" / name).string();
}

class RunProgram : public testing::Test {
protected:
  static SubprocessResult run(std::vector<std::string> options,
                              const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& settings = {}) {
    options.insert(options.begin(), "run");
    options.emplace_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return run_program(program_path(), options, settings);
  }
  static SubprocessResult sample(std::vector<std::string> options,
                                 std::vector<std::string> arguments,
                                 const std::map<std::string, std::string>& settings = {}) {
    arguments.insert(arguments.begin(), built("sample_program"));
    return run(std::move(options), arguments, settings);
  }
  static nlohmann::json json_of(const std::string& output) {
    const std::size_t line = output.rfind('\n', output.size() - 2);
    return nlohmann::json::parse(output.substr(line == std::string::npos ? 0 : line + 1));
  }
  // One line on stderr with these words.
  static void expect_line(const SubprocessResult& ran, int code,
                          const std::vector<std::string>& words) {
    EXPECT_EQ(ran.exit_status, code) << ran.error_output;
    EXPECT_EQ(std::count(ran.error_output.begin(), ran.error_output.end(), '\n'), 1)
        << ran.error_output;
    for (const std::string& word : words)
      EXPECT_NE(ran.error_output.find(word), std::string::npos) << word << "\n" << ran.error_output;
  }
};

TEST_F(RunProgram, EndsWithATableAndTheProgramsOwnExitCode) {
  const SubprocessResult ran = sample({"--gpu", "H100"}, {"exit", "7"});
  EXPECT_EQ(ran.exit_status, 7);
  EXPECT_EQ(ran.output, "");
  for (const char* word :
       {"3 launches of 1 kernel on a virtual H100", "modelled, not measured", "first bottleneck",
        "scale", "tail_or_launch_bound", "[copy] host to device, pageable"})
    EXPECT_NE(ran.error_output.find(word), std::string::npos) << word << "\n" << ran.error_output;
}

TEST_F(RunProgram, LeavesStreamsAndArgumentsToTheProgram) {
  const SubprocessResult ran = sample({"--quiet"}, {"echo", "--json", "--", "a b"});
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_EQ(ran.output, "[--json][--][a b]");
  EXPECT_EQ(ran.error_output, "");
}

TEST_F(RunProgram, JsonIsTheLastLineOfStandardOutput) {
  const SubprocessResult ran = sample({"--json", "--gpu", "A100"}, {"exit", "0"});
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_EQ(ran.error_output, "");
  const nlohmann::json json = json_of(ran.output);
  EXPECT_EQ(json.at("exit_code"), 0);
  EXPECT_EQ(json.at("method"), "modelled");
  EXPECT_EQ(json.at("launches"), 3);
  EXPECT_EQ(json.at("unpriced"), 0);
  EXPECT_TRUE(json.at("complete"));
  ASSERT_EQ(json.at("kernels").size(), 1U);
  const nlohmann::json& kernel = json.at("kernels").at(0);
  EXPECT_EQ(kernel.at("kernel"), "scale");
  EXPECT_EQ(kernel.at("calls"), 3);
  EXPECT_GT(kernel.at("time_ns"), 3000);
  EXPECT_LT(kernel.at("time_ns"), 30'000);
  EXPECT_TRUE(kernel.at("shapes").at(0).at("from_machine_code"));
  EXPECT_EQ(json.at("copies").size(), 1U);
}

TEST_F(RunProgram, OneTimeForAllRunsAndNumbersOfCores) {
  const std::string once = sample({"--quiet"}, {"time"}).output;
  EXPECT_GT(std::stod(once), 0.001);
  EXPECT_LT(std::stod(once), 0.01);
  EXPECT_EQ(sample({"--quiet", "--cores", "1"}, {"time"}).output, once);
  EXPECT_NE(sample({"--quiet", "--gpu", "T4"}, {"time"}).output, once);
}

TEST_F(RunProgram, TheWallClockOnRequest) {
  const SubprocessResult ran = sample({}, {"time"}, {{"KERNEVO_TIME", "wall"}});
  EXPECT_EQ(ran.error_output.find("modelled"), std::string::npos) << ran.error_output;
  EXPECT_NE(ran.error_output.find("1 launch of 1 kernel on"), std::string::npos)
      << ran.error_output;
}

TEST_F(RunProgram, ProfileSaysWhatEachResourceWouldNeed) {
  const SubprocessResult ran = sample({"--profile"}, {"exit", "0"});
  for (const char* word : {"grid 1 block 32: 3 calls", "occupancy", "launch", "latency"})
    EXPECT_NE(ran.error_output.find(word), std::string::npos) << word << "\n" << ran.error_output;
}

TEST_F(RunProgram, ACrashIsToldWithWhatRanBefore) {
  const SubprocessResult ran = sample({}, {"abort"});
  EXPECT_EQ(ran.exit_status, 128 + 6);
  for (const char* word : {"was ended by signal 6", "scale", "not all processes ended"})
    EXPECT_NE(ran.error_output.find(word), std::string::npos) << word << "\n" << ran.error_output;
  const nlohmann::json json = json_of(sample({"--json"}, {"abort"}).output);
  EXPECT_EQ(json.at("signal"), 6);
  EXPECT_FALSE(json.at("complete"));
  EXPECT_GT(json.at("launches"), 0);
}

TEST_F(RunProgram, PassesOnTheSignalThatEndsIt) {
  const SubprocessResult ran =
      run_program("/bin/sh", {"-c", program_path() + " run --json -- " + built("sample_program") +
                                        " wait & sleep 2; kill -TERM $!; wait $!; echo; echo $?"});
  EXPECT_NE(ran.output.find("\"signal\":15"), std::string::npos) << ran.output;
}

TEST_F(RunProgram, AFaultIsShownAndChangesTheExitCodeUnderTheSanitizer) {
  const SubprocessResult plain = sample({}, {"fault"});
  EXPECT_EQ(plain.exit_status, 0);
  EXPECT_NE(plain.error_output.find("FAULT  out_of_bounds"), std::string::npos)
      << plain.error_output;
  EXPECT_EQ(sample({"--sanitize"}, {"fault"}).exit_status, 1);
  EXPECT_EQ(sample({"--sanitize"}, {"exit", "0"}).exit_status, 0);
}

TEST_F(RunProgram, AModuleThatCannotBeLoadedIsNamed) {
  const SubprocessResult ran = sample({}, {"unloadable"});
  EXPECT_NE(ran.error_output.find("not loaded  "), std::string::npos) << ran.error_output;
}

TEST_F(RunProgram, AProgramWithoutCudaIsSaidToBeOne) {
  const SubprocessResult ran = run({}, {"sh", "-c", "exit 3"});
  expect_line(ran, 3, {"used none of the CUDA libraries"});
}

TEST_F(RunProgram, ChildrenOfTheProgramCount) {
  const SubprocessResult ran = run(
      {"--json"},
      {"sh", "-c", built("sample_program") + " exit 0; " + built("sample_program") + " exit 4"});
  EXPECT_EQ(ran.exit_status, 4);
  const nlohmann::json json = json_of(ran.output);
  EXPECT_EQ(json.at("processes"), 2);
  EXPECT_EQ(json.at("launches"), 6);
}

TEST_F(RunProgram, WhatIsNotRightIsOneLine) {
  expect_line(run({}, {}), 2, {"no program is named"});
  expect_line(run({}, {"./none"}), 2, {"there is no program './none'"});
  expect_line(sample({"--gpu", "H10"}, {"time"}), 2, {"H10", "did you mean"});
  expect_line(sample({"--sanitise"}, {"time"}), 2, {"--sanitise"});
  expect_line(run({}, {built("static_runtime_program")}), 2,
              {"NVIDIA's runtime linked in", "nvcc -cudart shared"});
  expect_line(run_program(program_path(), {"run", built("sample_program")}), 2,
              {"is a program, not a kernel", "-- "});
  expect_line(sample({"--quiet"}, {"time"}, {{"KERNEVO_TIME", "fast"}}), 2,
              {"KERNEVO_TIME is 'fast'"});
}

TEST(ModelledProgram, SaysSoOnceATimeWasAskedFor) {
  const SubprocessResult asks = run_program(built("sample_program"), {"time"});
  EXPECT_GT(std::stod(asks.output), 0);
  EXPECT_EQ(asks.error_output,
            "kernevo: times between events are modelled for a virtual A100, not measured\n");
  EXPECT_EQ(run_program(built("sample_program"), {"exit", "0"}).error_output, "");
}

TEST(ModelledProgram, TakesTheWallClockWhereThereIsNoPriceWorker) {
  const SubprocessResult ran =
      run_program(built("sample_program"), {"time"}, {{"KERNEVO_PROGRAM", "/no/kernevo"}});
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_NE(ran.error_output.find("events carry the wall clock"), std::string::npos)
      << ran.error_output;
  EXPECT_EQ(std::count(ran.error_output.begin(), ran.error_output.end(), '\n'), 1);
}

TEST_F(RunProgram, WritesTheTableToAFile) {
  const TestFolder folder;
  const SubprocessResult ran =
      sample({"--json", "--output", folder.path("table.json")}, {"exit", "0"});
  EXPECT_EQ(ran.output, "");
  EXPECT_TRUE(fs::exists(folder.path("table.json")));
}

} // namespace
} // namespace kernevo
