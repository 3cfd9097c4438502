// `kernevo compare` as a person or a script meets it.
#include "run_program.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

std::string add_kernel(const std::string& sum) {
  return "// @tune STEP 1 2\n"
         "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  for (int k = 0; k < STEP; ++k)\n"
         "    if (i < N) C[i] = " +
         sum + ";\n}\n";
}

class CompareCommand : public KernelTest {
protected:
  void SetUp() override {
    KernelTest::SetUp();
    task_ = write("t.yaml", "op_name: add\nshapes: [[4096]]\ndtype: float32\ntarget_gpu: A100\n");
  }

  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  SubprocessResult compare(const std::string& a, const std::string& b,
                           std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"compare", task_, a, b, "--small-only"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(program_path(), arguments);
  }

  const TestFolder folder_;
  std::string task_;
};

TEST_F(CompareCommand, OneFileTwiceIsTheSameAndSoNotFaster) {
  const std::string a = write("a.cu", add_kernel("A[i] + B[i]"));
  const auto run = compare(a, a);
  EXPECT_EQ(run.exit_status, 1) << run.error_output;
  EXPECT_NE(run.output.find("same  B against A"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("@@"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("none differs"), std::string::npos) << run.output;
}

TEST_F(CompareCommand, ShowsTheDifferenceOfTheSourcesUnlessToldNotTo) {
  const std::string a = write("a.cu", add_kernel("A[i] + B[i]"));
  const std::string b = write("b.cu", add_kernel("B[i] + A[i]"));
  const auto run = compare(a, b);
  EXPECT_NE(run.output.find("-    if (i < N) C[i] = A[i] + B[i];\n"
                            "+    if (i < N) C[i] = B[i] + A[i];\n"),
            std::string::npos)
      << run.output;
  EXPECT_EQ(compare(a, b, {"--no-diff"}).output.find("@@"), std::string::npos);
  const auto quiet = compare(a, b, {"--quiet"});
  EXPECT_EQ(std::count(quiet.output.begin(), quiet.output.end(), '\n'), 1) << quiet.output;
}

TEST_F(CompareCommand, AnswersInJson) {
  const std::string a = write("a.cu", add_kernel("A[i] + B[i]"));
  const auto run = compare(a, a, {"--json", "--param-b", "STEP=2", "--all"});
  const auto json = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << run.output << run.error_output;
  EXPECT_EQ(json["A"]["parameters"]["STEP"], 1);
  EXPECT_EQ(json["B"]["parameters"]["STEP"], 2);
  EXPECT_EQ(json["diff"], "");
  EXPECT_EQ(json["overall"]["method"], "modelled");
  const auto& one = json["cases"].at(0);
  EXPECT_GT(one["A_ns"].get<double>(), 0);
  EXPECT_LE(one["ratio"]["low"], one["ratio"]["estimate"]);
  EXPECT_LE(one["ratio"]["estimate"], one["ratio"]["high"]);
  EXPECT_FALSE(one["counters"].empty());
  EXPECT_EQ(run.exit_status, json["overall"]["standing"] == "faster" ? 0 : 1);
}

TEST_F(CompareCommand, SaysWhichKernelIsWrong) {
  const std::string a = write("a.cu", add_kernel("A[i] + B[i]"));
  const std::string b = write("b.cu", add_kernel("A[i] * B[i]"));
  const auto run = compare(a, b);
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_NE(run.output.find("WRONG  B ("), std::string::npos) << run.output;
  const auto json = nlohmann::json::parse(compare(b, a, {"--json"}).output, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["wrong"], "A");
}

TEST_F(CompareCommand, RefusesBadInputInOneLine) {
  const std::string a = write("a.cu", add_kernel("A[i] + B[i]"));
  const std::vector<std::pair<SubprocessResult, std::string>> runs = {
      {compare(a, folder_.path("none.cu")), "none.cu"},
      {compare(a, a, {"--gpu", "A1000"}), "A1000"},
      {compare(a, a, {"--param-b", "STEPS=2"}), "STEPS"},
      {compare(a, a, {"--param-a", "STEP"}), "STEP"},
  };
  for (const auto& [run, word] : runs) {
    EXPECT_EQ(run.exit_status, 2) << word << run.output << run.error_output;
    EXPECT_EQ(std::count(run.error_output.begin(), run.error_output.end(), '\n'), 1)
        << run.error_output;
    EXPECT_NE(run.error_output.find(word), std::string::npos) << run.error_output;
  }
}

} // namespace
} // namespace kernevo
