// What the program says of a run that was made on a device that measures.
#include "../support/run_program.h"
#include "../support/test_folder.h"
#include "kernevo/store/open_journal.h"
#include "places.h"
#include "scripted_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class MeasuredRun : public testing::Test {
protected:
  void SetUp() override {
    const ScriptedRun run;
    auto journal = store::create_journal(folder_.path("run"));
    ASSERT_TRUE(journal) << format_error(journal.error());
    const auto state = run.start(**journal);
    ASSERT_TRUE(state) << format_error(state.error());
    best_ = state->best()->candidate.step;
  }

  std::string output(const std::string& command, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {command, folder_.path("run")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const SubprocessResult run = run_program(program_path(), arguments);
    EXPECT_EQ(run.exit_status, 0) << command << ": " << run.error_output;
    return run.output;
  }

  const TestFolder folder_;
  Step best_ = 0;
};

TEST_F(MeasuredRun, IsShownAsMeasured) {
  EXPECT_THAT(output("show"),
              AllOf(HasSubstr("device   fake:A100; times are measured"),
                    HasSubstr("20 us -> 2 us, 10.00 x the reference's speed, measured"),
                    Not(HasSubstr("modelled")), Not(HasSubstr("virtual"))));
  EXPECT_THAT(output("show", {"--why", std::to_string(best_)}),
              AllOf(HasSubstr("2 us measured"), Not(HasSubstr("modelled"))));
}

TEST_F(MeasuredRun, IsExtractedAsMeasured) {
  EXPECT_THAT(output("extract"), AllOf(HasSubstr("2 us measured"), Not(HasSubstr("modelled")),
                                       Not(HasSubstr("virtual"))));
  const auto json = nlohmann::json::parse(output("extract", {"--as", "json"}), nullptr, false);
  EXPECT_EQ(json.value("method", ""), "measured");
}

} // namespace
} // namespace kernevo
