// What is wrong with a command about Python programs, before any Python is asked.
#include "expect_line.h"
#include "places.h"
#include "run_program.h"
#include "test_folder.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

class BadProgram : public testing::Test {
protected:
  void expect_said(const std::vector<std::string>& arguments, int exit_code,
                   const std::vector<std::string>& words) const {
    expect_line(run_program(program_path(), arguments,
                            {{"KERNEVO_PYTHON_PLACE", folder_.path("no-environment")}}),
                exit_code, words);
  }

  const TestFolder folder_;
  const std::string task_ = folder_.write("task.py", "# a task\n");
  const std::string program_ = folder_.write("program.py", "# a program\n");
};

TEST_F(BadProgram, WithoutAnEnvironmentTheFixIsTheSetUp) {
  expect_said({"check", task_, program_}, 3, {"PyTorch and Triton", "kernevo setup python"});
  expect_said({"bench", task_, program_}, 3, {"kernevo setup python"});
  expect_said({"compare", task_, program_, program_}, 3, {"kernevo setup python"});
}
TEST_F(BadProgram, MissingFiles) {
  expect_said({"check", folder_.path("none.py"), program_}, 2, {"none.py", "no such task file"});
  expect_said({"check", task_, folder_.path("none.py")}, 2, {"none.py", "no such program"});
}
TEST_F(BadProgram, TooFewFiles) {
  expect_said({"check", task_}, 2, {"1 files are named, 2 are needed"});
  expect_said({"compare", task_, program_}, 2, {"2 files are named, 3 are needed"});
  // A kernel's commands say so as well.
  expect_said({"check", folder_.write("t.yaml", "op_name: add\n")}, 2, {"no kernel is named"});
}
TEST_F(BadProgram, ARealGpuIsRefused) {
  expect_said({"check", task_, program_, "--device", "cuda:0"}, 2, {"virtual GPUs", "--gpu"});
}
TEST_F(BadProgram, AProblemNeedsItsLevelAndNumber) {
  expect_said({"check", "--kernelbench", folder_.path(""), program_}, 2,
              {"a level and a problem", "--level 1"});
}
TEST_F(BadProgram, AnUnknownPrecisionNamesThoseThereAre) {
  expect_said({"check", task_, program_, "--precision", "fp8"}, 2, {"fp8", "bf16"});
}
TEST_F(BadProgram, RunsOfKernelBench) {
  expect_said({"kernelbench", "walk", folder_.path("")}, 2, {"walk", "kernelbench run"});
  expect_said({"kernelbench", "run", folder_.path("none")}, 2, {"none", "folder"});
  expect_said({"kernelbench", "run", folder_.path("")}, 2, {"--kernelbench"});
  expect_said({"kernelbench", "show", folder_.path("")}, 2, {"eval_results.json"});
}
TEST_F(BadProgram, BrokenResultsAreNamedAndKept) {
  const std::string results = folder_.write("eval_results.json", "{\"1\": [{\"sample_id\": -1}]}");
  expect_said({"kernelbench", "show", folder_.path("")}, 2, {"eval_results.json", "mend it"});
  folder_.write("eval_results.json", "{\"one\": []}");
  expect_said({"kernelbench", "show", folder_.path("")}, 2, {"no number of a problem"});
}

TEST(KernelBenchResults, TheirOwnFilesAreTold) {
  const TestFolder folder;
  folder.write(
      "eval_results.json",
      R"({"2": [{"sample_id": 0, "compiled": true, "correctness": true, "metadata": {"hardware": "A100", "n": 5}, "runtime": 1.5, "runtime_stats": {}}],
                   "11": [{"sample_id": 0, "compiled": true, "correctness": false, "metadata": {}, "runtime": -1.0, "runtime_stats": {}}]})");
  const std::string baseline = folder.write(
      "baseline.json",
      R"({"level1": {"2_Square.py": {"mean": 3.0, "std": 0.1}, "11_Other.py": {"mean": 9.0}}})");
  const SubprocessResult run = run_program(
      program_path(), {"kernelbench", "show", folder.path(""), "--baseline", baseline}, {});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  for (const char* text : {"fast_1", "0.500", "2.000x", "correct", "wrong"})
    EXPECT_NE(run.output.find(text), std::string::npos) << text << "\n" << run.output;
}

} // namespace
} // namespace kernevo
