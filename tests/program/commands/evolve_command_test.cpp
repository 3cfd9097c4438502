// `kernevo evolve` through the real program: what it says and how it ends.
#include "kernevo/base/files.h"
#include "places.h"
#include "run_program.h"
#include "test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTask = "op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n";

class Evolve : public testing::Test {
protected:
  SubprocessResult kernevo(const std::vector<std::string>& arguments) const {
    return run_program(program_path(), arguments, {{"KERNEVO_RUNS", folder_.path("runs")}});
  }
  // The summary that ends a stream of events.
  static nlohmann::json summary_of(const SubprocessResult& run) {
    const std::size_t end = run.output.find_last_not_of('\n');
    const std::size_t begin = run.output.rfind('\n', end) + 1; // also when there is one line
    auto json = nlohmann::json::parse(run.output.substr(begin), nullptr, false);
    if (!json.is_object())
      json = nlohmann::json::object();
    EXPECT_EQ(json.value("event", ""), "summary") << run.output << run.error_output;
    return json.value("body", nlohmann::json::object());
  }

  const TestFolder folder_;
};

TEST_F(Evolve, ATargetThatTheBaselineMeetsIsASuccess) {
  const std::string task =
      folder_.write("t.yaml", std::string(kTask) + "target_perf_us: 1000000\n");
  const auto run = kernevo({"evolve", task, "--name", "met"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  EXPECT_THAT(run.output, HasSubstr("target met by the baseline; best is the reference"));
  EXPECT_THAT(run.output, HasSubstr("the baseline itself takes"));
  EXPECT_THAT(run.output, Not(HasSubstr("no improvement")));
  EXPECT_THAT(run.output, Not(HasSubstr("tried")));

  const auto again = kernevo({"evolve", "--resume", "met"});
  EXPECT_EQ(again.exit_status, 0) << again.error_output;
  EXPECT_THAT(again.output, HasSubstr("target met by the baseline"));
  EXPECT_THAT(kernevo({"show", "met"}).output, HasSubstr("target met by the baseline"));
  const auto shown = nlohmann::json::parse(kernevo({"show", "met", "--json"}).output);
  EXPECT_TRUE(shown.at("met_by_baseline").get<bool>());
  EXPECT_EQ(kernevo({"replay", "met"}).exit_status, 0);
  const std::string page = folder_.path("page.html");
  ASSERT_EQ(kernevo({"report", "met", "--out", page}).exit_status, 0);
  EXPECT_THAT(*read_text_file(page), HasSubstr("stopped: the baseline itself takes"));
}

TEST_F(Evolve, ARooflineThatTheBaselineReachesIsASuccess) {
  const std::string task = folder_.write("t.yaml", kTask);
  const auto text = kernevo({"evolve", task, "--roofline", "0.000001"});
  EXPECT_EQ(text.exit_status, 0) << text.error_output;
  EXPECT_THAT(text.output, HasSubstr("roofline reached by the baseline"));
  const auto run = kernevo({"evolve", task, "--roofline", "0.000001", "--json"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  const auto summary = summary_of(run);
  EXPECT_TRUE(summary.value("met_by_baseline", false));
  EXPECT_EQ(summary.value("stopped", ""), "roofline");
  EXPECT_EQ(summary.value("speedup", 0.0), 1.0);
}

TEST_F(Evolve, NothingFasterAndNothingMetIsANo) {
  // A proposer that never has an idea.
  const auto run = kernevo({"evolve", folder_.write("t.yaml", kTask), "--proposer", "command:false",
                            "--rounds", "1", "--target-us", "0.000001", "--json"});
  EXPECT_EQ(run.exit_status, 1) << run.error_output;
  const auto summary = summary_of(run);
  EXPECT_FALSE(summary.value("met_by_baseline", true));
  EXPECT_EQ(summary.value("stopped", ""), "rounds");
}

} // namespace
} // namespace kernevo
