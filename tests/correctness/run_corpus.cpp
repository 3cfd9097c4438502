// Runs `kernevo check` on every kernel beside this file. good/ must be found correct; bad/ must be
// given the fault its `// expect:` line names. Kernels name their task in `// task:`.
#include "kernevo/base/files.h"
#include "places.h"
#include "run_program.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

struct CorpusKernel {
  fs::path path;
  fs::path task;
  std::vector<std::string> faults; // any of these; empty in good/

  friend std::ostream& operator<<(std::ostream& out, const CorpusKernel& kernel) {
    return out << kernel.path.filename().string();
  }
};

std::vector<CorpusKernel> corpus(const std::string& folder) {
  std::vector<CorpusKernel> kernels;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(test_folder("correctness")) / folder)) {
    if (entry.path().extension() != ".cu")
      continue;
    const auto source = read_text_file(entry.path());
    const std::string text = source ? *source : std::string();
    kernels.push_back({entry.path(), entry.path().parent_path() / header_line(text, "task"),
                       alternatives(header_line(text, "expect"))});
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const CorpusKernel& a, const CorpusKernel& b) { return a.path < b.path; });
  return kernels;
}

std::string test_name(const testing::TestParamInfo<CorpusKernel>& info) {
  return info.param.path.stem().string();
}

struct Answer {
  int exit_status = -1;
  nlohmann::json verdict;
};

void check(const CorpusKernel& kernel, Answer& answer) {
  ASSERT_TRUE(fs::is_regular_file(kernel.task)) << kernel.task;
  const SubprocessResult result =
      run_program(program_path(), {"check", kernel.task.string(), kernel.path.string(), "--json"});
  ASSERT_FALSE(result.timed_out);
  ASSERT_EQ(result.signal, 0) << result.error_output;
  answer.exit_status = result.exit_status;
  answer.verdict = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_TRUE(answer.verdict.is_object() && answer.verdict.contains("correct"))
      << result.output << result.error_output;
}

class Good : public testing::TestWithParam<CorpusKernel> {};

TEST_P(Good, IsFoundCorrect) {
  Answer answer;
  ASSERT_NO_FATAL_FAILURE(check(GetParam(), answer));
  EXPECT_EQ(answer.exit_status, 0);
  EXPECT_TRUE(answer.verdict.at("correct").get<bool>()) << answer.verdict.at("summary");
  EXPECT_TRUE(answer.verdict.at("fault").is_null()) << answer.verdict.at("fault");
}

class Bad : public testing::TestWithParam<CorpusKernel> {};

TEST_P(Bad, IsGivenItsFault) {
  ASSERT_FALSE(GetParam().faults.empty()) << "the kernel has no '// expect:' line";
  Answer answer;
  ASSERT_NO_FATAL_FAILURE(check(GetParam(), answer));
  EXPECT_EQ(answer.exit_status, 1);
  EXPECT_FALSE(answer.verdict.at("correct").get<bool>());
  ASSERT_TRUE(answer.verdict.at("fault").is_string()) << answer.verdict.at("summary");
  const std::string fault = answer.verdict.at("fault");
  EXPECT_NE(std::find(GetParam().faults.begin(), GetParam().faults.end(), fault),
            GetParam().faults.end())
      << fault << ": " << answer.verdict.at("summary");
}

TEST(Corpus, HasAHundredRightKernelsAndTwoHundredWrongOnes) {
  EXPECT_GE(corpus("good").size(), 100U);
  EXPECT_GE(corpus("bad").size(), 200U);
}

INSTANTIATE_TEST_SUITE_P(Corpus, Good, testing::ValuesIn(corpus("good")), test_name);
INSTANTIATE_TEST_SUITE_P(Corpus, Bad, testing::ValuesIn(corpus("bad")), test_name);

} // namespace
} // namespace kernevo
