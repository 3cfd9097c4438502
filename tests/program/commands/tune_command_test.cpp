// `kernevo tune` through the real program.
#include "expect_line.h"
#include "run_program.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "op_name: add\nshapes: [[65536]]\ndtype: float32\ntarget_gpu: A100\n";
// STEP elements lie between what neighbouring threads touch: 1 is best, and is not the default.
// WRONG is faster still, for it does nothing.
constexpr const char* kKernel =
    "// @tune STEP 32 8 1\n"
    "// @tune THREADS 128 256\n"
    "// @tune WRONG 0 1\n"
    "// @launch add<<<ceil_div(N, THREADS), THREADS>>>(A, B, C, N)\n"
    "extern \"C\" __global__ void add(const float* A, const float* B, float* C, int N) {\n"
    "  const int i = blockIdx.x * THREADS + threadIdx.x;\n"
    "  const int rows = N / STEP;\n"
    "  const int at = i < rows * STEP ? i % rows * STEP + i / rows : i;\n"
    "  if (at < N && !WRONG) C[at] = A[at] + B[at];\n"
    "}\n";

class TuneCommand : public KernelTest {
protected:
  void SetUp() override {
    KernelTest::SetUp();
    task_ = write("task.yaml", kTask);
    kernel_ = write("add.cu", kKernel);
    log_ = path("log.jsonl");
  }

  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  static std::size_t lines(const std::string& file) {
    const std::string text = read(file);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  static SubprocessResult tune(std::vector<std::string> arguments,
                               const std::map<std::string, std::string>& settings = {}) {
    arguments.insert(arguments.begin(), "tune");
    return run_program(program_path(), arguments, settings);
  }
  // The usual files, a log in the folder, and what is given.
  SubprocessResult tune_here(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {task_, kernel_, "--log", log_});
    return tune(std::move(arguments));
  }
  static nlohmann::json json_of(const SubprocessResult& run) {
    EXPECT_EQ(run.error_output, "");
    return nlohmann::json::parse(run.output, nullptr, false);
  }
  // Exit code 2, nothing but one line that has all these words, and no file that was not there.
  void expect_refused(const SubprocessResult& run, const std::vector<std::string>& words) const {
    expect_line(run, 2, words);
    EXPECT_EQ(run.output, "");
  }

  const TestFolder folder_;
  std::string task_;
  std::string kernel_;
  std::string log_;
};

TEST_F(TuneCommand, FindsTheBestOfASmallSpaceAndRejectsTheWrongOnes) {
  const auto run = tune_here({"--json", "--write", path("tuned.cu")});
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  const auto json = json_of(run);
  EXPECT_EQ(json["method"], "modelled");
  EXPECT_EQ(json["stop"], "exhausted");
  EXPECT_EQ(json["evaluations"], 12);
  EXPECT_EQ(json["default"]["parameters"]["STEP"], 32);
  EXPECT_EQ(json["best"]["parameters"]["STEP"], 1);
  EXPECT_EQ(json["best"]["parameters"]["WRONG"], 0);
  EXPECT_GT(json["speedup"], 1.0);
  ASSERT_EQ(json["failures"].size(), 1U) << json["failures"];
  EXPECT_EQ(json["failures"][0]["outcome"], "wrong");
  EXPECT_NE(json["failures"][0]["example"], "");
  // What was written has the best values first and is otherwise the same.
  const std::string tuned = read(path("tuned.cu"));
  EXPECT_NE(tuned.find("// @tune STEP 1 32 8\n"), std::string::npos) << tuned;
  EXPECT_EQ(tuned.substr(tuned.find("extern")),
            std::string(kKernel).substr(std::string(kKernel).find("extern")));
  const auto again = tune_here({"--write", path("tuned.cu")});
  expect_refused(again, {"tuned.cu", "exists already", "--force"});
  EXPECT_EQ(read(path("tuned.cu")), tuned);
}

TEST_F(TuneCommand, AnswersInAPipeLineByLine) {
  const auto run = tune_here({"--evaluations", "4", "--jobs", "2"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  EXPECT_EQ(run.output.find('\r'), std::string::npos);
  for (const char* word : {"12 of them valid", "default  ", "best     ", "modelled",
                           "tried    4 of 12", "use      kernevo bench"})
    EXPECT_NE(run.output.find(word), std::string::npos) << word << "\n" << run.output;
}

// The log makes the number of threads and the number of runs invisible.
TEST_F(TuneCommand, ThreadsAndStopsDoNotShowInTheResult) {
  ASSERT_EQ(tune_here({"--evaluations", "6", "--jobs", "1", "-q"}).exit_status, 0);
  const std::string at_once = read(log_);
  fs::remove(log_);
  ASSERT_EQ(tune_here({"--evaluations", "2", "--jobs", "3", "-q"}).exit_status, 0);
  EXPECT_EQ(lines(log_), 3U); // with its header
  const auto rest = tune_here({"--evaluations", "6", "--jobs", "3", "--json"});
  EXPECT_EQ(json_of(rest)["from_log"], 2);
  EXPECT_EQ(read(log_), at_once);
}

TEST_F(TuneCommand, KeepsALogWithoutBeingAsked) {
  const std::map<std::string, std::string> settings = {{"KERNEVO_CACHE", path("cache")}};
  ASSERT_EQ(tune({task_, kernel_, "--evaluations", "2", "-q"}, settings).exit_status, 0);
  const auto again = tune({task_, kernel_, "--evaluations", "2", "--json"}, settings);
  EXPECT_EQ(json_of(again)["from_log"], 2);
  // Another task is another subject, and takes nothing from it.
  write("task.yaml", std::string(kTask) + "objective: worst_case\n");
  const auto other = tune({task_, kernel_, "--evaluations", "1", "--json"}, settings);
  EXPECT_EQ(json_of(other)["from_log"], 0);
  const auto none =
      tune({task_, kernel_, "--evaluations", "1", "--json"}, {{"KERNEVO_CACHE", "off"}});
  EXPECT_FALSE(json_of(none).contains("log"));
}

TEST_F(TuneCommand, AnInterruptionEndsWithASummaryAndResumes) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string out = path("out.txt");
    if (std::freopen(out.c_str(), "w", stdout) == nullptr)
      _exit(127);
    execl(program_path().c_str(), "kernevo", "tune", task_.c_str(), kernel_.c_str(), "--log",
          log_.c_str(), "--jobs", "1", "--ahead", "1", nullptr);
    _exit(127);
  }
  // Once two are known there are ten to go.
  for (int i = 0; i < 6000 && (!fs::exists(log_) || lines(log_) < 3); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const std::string output = read(path("out.txt"));
  EXPECT_NE(output.find("stopped"), std::string::npos) << output;
  EXPECT_NE(output.find("resume "), std::string::npos) << output;
  const std::size_t known = lines(log_) - 1;
  EXPECT_LT(known, 12U);
  const auto rest = tune_here({"--ahead", "1", "--jobs", "1", "--json"});
  EXPECT_EQ(json_of(rest)["from_log"], known);
  EXPECT_EQ(json_of(rest)["stop"], "exhausted");
}

TEST_F(TuneCommand, WhenNothingWorksTheAnswerIsNo) {
  std::string broken = kKernel;
  broken.replace(broken.find("A[at] + B[at]"), 13, "A[at] - B[at]");
  write("add.cu", broken);
  const auto run = tune_here({"--evaluations", "2", "--write", path("tuned.cu")});
  EXPECT_EQ(run.exit_status, 1) << run.output;
  EXPECT_NE(run.output.find("no configuration that works"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("2 gave wrong results"), std::string::npos) << run.output;
  EXPECT_FALSE(fs::exists(path("tuned.cu")));
}

TEST_F(TuneCommand, CachesGoOutAndComeBack) {
  const std::string cache = path("cache.json");
  ASSERT_EQ(tune_here({"--evaluations", "3", "-q", "--export-cache", cache}).exit_status, 0);
  EXPECT_EQ(nlohmann::json::parse(read(cache))["cache"].size(), 3U);
  // What it holds need not be tried again; what is new is added.
  const auto more = tune({task_, kernel_, "--log", path("other.jsonl"), "--evaluations", "2",
                          "--json", "--import-cache", cache, "--export-cache", cache});
  EXPECT_EQ(json_of(more)["evaluations"], 2);
  EXPECT_EQ(nlohmann::json::parse(read(cache))["cache"].size(), 5U);
  // A recording is what a cache is, too.
  const auto replay = tune({"--replay", cache, "--seeds", "2", "--strategy", "random", "--json"});
  ASSERT_EQ(replay.exit_status, 0) << replay.error_output;
  EXPECT_EQ(json_of(replay)["valid"], 5);
  EXPECT_EQ(json_of(replay)["budgets"].back()["mean_fraction"], 1.0);
}

TEST_F(TuneCommand, ReplaysARecordedSpace) {
  const auto run = tune({"--replay", test_folder("unit/search") + "/made_up.tsv.gz", "--strategy",
                         "random", "--seeds", "3", "--evaluations", "60"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  for (const char* word : {"2520 configurations", "random, 3 seeds", "  25 ", "  60 "})
    EXPECT_NE(run.output.find(word), std::string::npos) << word << "\n" << run.output;
}

TEST_F(TuneCommand, RefusesASpaceWithNothingInIt) {
  write("add.cu", "// @where STEP > THREADS\n" + std::string(kKernel));
  expect_refused(tune_here({}), {"add.cu:1", "exclude all 12 combinations", "'STEP > THREADS'"});
  EXPECT_FALSE(fs::exists(log_));
}

TEST_F(TuneCommand, RefusesALaunchThatCanNeverBe) {
  std::string large = kKernel;
  large.replace(large.find("THREADS>>>"), 10, "THREADS * 16>>>");
  write("add.cu", large);
  expect_refused(tune_here({}), {"add.cu:4", "exclude all 12 combinations", "<= 1024", "threads"});
}

TEST_F(TuneCommand, RefusesParametersThatAreMissingOrUnused) {
  write("add.cu", "// @tune DEPTH 1 2\n" + std::string(kKernel));
  expect_refused(tune_here({}), {"add.cu:1", "'DEPTH'", "used neither"});
  const std::string kernel = kKernel;
  write("add.cu", kernel.substr(kernel.find("// @launch")));
  expect_refused(tune_here({}), {"add.cu", "no parameters to tune", "@tune"});
}

TEST_F(TuneCommand, RefusesAnEmptyBudget) {
  expect_refused(tune_here({"--evaluations", "0"}), {"0 evaluations"});
  expect_refused(tune_here({"--evaluations", "-5"}), {"-5 evaluations"});
  expect_refused(tune_here({"--seconds", "0"}), {"0 seconds"});
  EXPECT_FALSE(fs::exists(log_));
}

TEST_F(TuneCommand, RefusesNamesItDoesNotKnow) {
  expect_refused(tune_here({"--gpu", "A1000"}), {"A1000", "did you mean 'A100'"});
  expect_refused(tune_here({"--strategy", "modle"}), {"modle", "did you mean 'model'"});
  expect_refused(tune({task_, path("none.cu")}), {"none.cu", "cannot be read"});
  expect_refused(tune({task_}), {"KERNEL"});
  expect_refused(tune_here({"--write", path("no/folder.cu")}), {"folder", "--write"});
  expect_refused(tune({"--replay", path("none.tsv")}), {"none.tsv", "cannot be read"});
  expect_refused(tune({task_, kernel_, "--replay", path("none.tsv")}), {"--replay"});
}

TEST_F(TuneCommand, RefusesFilesOfAnotherKernelAndLeavesThemAlone) {
  const std::string cache = path("cache.json");
  ASSERT_EQ(tune_here({"--evaluations", "1", "-q", "--export-cache", cache}).exit_status, 0);
  const std::string log_before = read(log_);
  const std::string cache_before = read(cache);
  const std::string other = write("other.cu", std::string(kKernel) + "// another\n");
  expect_refused(tune({task_, other, "--log", log_}),
                 {"log.jsonl", "another kernel", "left as it is"});
  for (const char* option : {"--import-cache", "--export-cache"})
    expect_refused(tune({task_, other, "--log", path("new.jsonl"), option, cache}),
                   {"cache.json", "another kernel", "left as it is"});
  expect_refused(tune({task_, kernel_, "--log", log_, "--gpu", "H100"}),
                 {"log.jsonl", "another device", "H100"});
  expect_refused(tune({task_, kernel_, "--log", task_}), {"task.yaml", "not a tuning log"});
  expect_refused(tune({task_, kernel_, "--log", path("new.jsonl"), "--export-cache", kernel_}),
                 {"add.cu", "not a Kernel Tuner cache file"});
  EXPECT_EQ(read(log_), log_before);
  EXPECT_EQ(read(cache), cache_before);
  EXPECT_EQ(read(task_), kTask);
  EXPECT_EQ(read(kernel_), kKernel);
  EXPECT_FALSE(fs::exists(path("new.jsonl")));
}

} // namespace
} // namespace kernevo
