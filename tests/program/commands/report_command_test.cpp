// `kernevo report` through the real program.
#include "kernevo/base/files.h"
#include "places.h"
#include "run_program.h"
#include "sample_run.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::report {
namespace {

using testing::HasSubstr;

TEST(ReportCommand, WritesAPageBesideTheJournal) {
  SampleRun run("command");
  run.candidate(0, StepOutcome::improved, 50.0);
  const auto done = run_program(program_path(), {"report", run.folder().string()});
  EXPECT_EQ(done.exit_status, 0) << done.error_output;
  const auto page = read_text_file(run.folder() / "report.html");
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr("modelled on virtual A100"));
}

TEST(ReportCommand, WritesEventFiles) {
  SampleRun run("command_events");
  const auto folder = run.folder() / "tb";
  const auto done = run_program(
      program_path(), {"report", run.folder().string(), "--tensorboard", folder.string()});
  EXPECT_EQ(done.exit_status, 0) << done.error_output;
  EXPECT_THAT(done.output, HasSubstr("events.out.tfevents."));
  EXPECT_FALSE(std::filesystem::exists(run.folder() / "report.html")); // not asked for
}

TEST(ReportCommand, TroubleIsOneLine) {
  SampleRun run("command_trouble");
  const auto check = [](const std::vector<std::string>& arguments, int code, const char* message) {
    const auto done = run_program(program_path(), arguments);
    EXPECT_EQ(done.exit_status, code) << done.error_output;
    EXPECT_THAT(done.error_output, HasSubstr(message));
    EXPECT_EQ(std::count(done.error_output.begin(), done.error_output.end(), '\n'), 1)
        << done.error_output;
  };
  const std::string folder = run.folder().string();
  check({"report", "no_such_run_at_all"}, 2, "there is no run");
  check({"report", folder, "-o", "/proc/x.html"}, 3, "cannot create the file");
  check({"report", folder, "-o", folder}, 2, "is a folder");
  check({"report", folder, "--tensorboard", "/proc/tb"}, 3, "cannot be made");
}

} // namespace
} // namespace kernevo::report
