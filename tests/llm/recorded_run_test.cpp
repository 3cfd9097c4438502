// Recorded runs of good replies: naive, buggy, repaired, better. What they reach, what they mend,
// and what they would have cost.
#include "places.h"
#include "run_program.h"
#include "test_folder.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kTokens = 40'000;

class RecordedRun : public testing::Test {
protected:
  // The last line: the run's summary.
  Json evolve(const std::string& task, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {
        "evolve", fmt::format("{}/examples/{}/task_large.yaml", source_folder(), task),
        "--json", "--ahead",
        "1",      "--evaluations",
        "80"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const SubprocessResult result =
        run_program(program_path(), arguments, {{"KERNEVO_RUNS", folder_.path().string()}}, 280);
    EXPECT_EQ(result.exit_status, 0) << result.output << result.error_output;
    const std::size_t end = result.output.find_last_not_of('\n');
    const std::size_t begin = result.output.rfind('\n', end);
    return Json::parse(result.output.substr(begin == std::string::npos ? 0 : begin + 1), nullptr,
                       false)
        .value("body", Json::object());
  }

  Json recorded(const std::string& task) const {
    return evolve(task, {"--proposer", "llm", "--cheap", "--tokens", std::to_string(kTokens),
                         "--llm-replay",
                         fmt::format("{}/examples/llm/{}/replies.jsonl", source_folder(), task)});
  }

  // What any recording must show.
  static std::set<std::string> look(const Json& run) {
    EXPECT_LT(run.value("tokens", kTokens), kTokens);
    EXPECT_GE(run.value("repaired", 0), 2);
    EXPECT_EQ(run.value("stopped", ""), "unavailable") << "at the end of the recording";
    std::set<std::string> faults;
    for (const auto& [fault, count] : run.at("faults_mended").items())
      faults.insert(fault);
    return faults;
  }

  const TestFolder folder_;
};

TEST_F(RecordedRun, SoftmaxComesWithinTenPercentOfThePlaybook) {
  const Json run = recorded("softmax");
  EXPECT_GE(look(run).size(), 4U);
  const Json playbook = evolve("softmax", {"--proposer", "playbook", "--name", "playbook"});
  EXPECT_LE(run.value("best_ns", 1e18), 1.1 * playbook.value("best_ns", 0.0));
}

TEST_F(RecordedRun, LayerNormMendsFiveKindsOfFault) {
  const Json run = recorded("layer_norm");
  EXPECT_GE(look(run).size(), 5U);
  EXPECT_GT(run.value("roofline", 0.0), 0.85);
}

TEST_F(RecordedRun, MatmulClimbsOverFourKernels) {
  const Json run = recorded("matmul");
  EXPECT_GE(look(run).size(), 3U);
  EXPECT_GT(run.value("roofline", 0.0), 0.8);
}

} // namespace
} // namespace kernevo
