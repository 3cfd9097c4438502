#include "kernevo/base/subprocess.h"
#include "test_folder.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

SubprocessRequest shell(const std::string& script) {
  SubprocessRequest request;
  request.arguments = {"/bin/sh", "-c", script};
  request.environment = {"PATH=/usr/bin:/bin"};
  request.time_limit_seconds = 20;
  return request;
}

TEST(Subprocess, captures_both_streams_and_the_status) {
  const auto result = run_subprocess(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->error_output, "err\n");
  EXPECT_EQ(result->exit_status, 3);
  EXPECT_EQ(result->signal, 0);
  EXPECT_FALSE(result->succeeded());
}

TEST(Subprocess, gives_the_input_and_closes_it) {
  SubprocessRequest request = shell("cat | wc -c");
  request.input = std::string(1U << 20U, 'x'); // more than a pipe holds
  const auto result = run_subprocess(request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded());
  EXPECT_THAT(result->output, HasSubstr("1048576"));
}

TEST(Subprocess, survives_a_program_that_ignores_its_input) {
  SubprocessRequest request = shell("exit 0");
  request.input = std::string(1U << 20U, 'x');
  const auto result = run_subprocess(request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded());
}

TEST(Subprocess, inherits_no_environment) {
  ::setenv("KERNEVO_SECRET_FOR_TEST", "leak", 1);
  const auto result = run_subprocess(shell("env"));
  ASSERT_TRUE(result);
  EXPECT_THAT(result->output, testing::Not(HasSubstr("leak")));
}

TEST(Subprocess, kills_the_whole_group_at_the_time_limit) {
  SubprocessRequest request = shell("sleep 30 & sleep 30");
  request.time_limit_seconds = 0.2;
  const auto result = run_subprocess(request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_LT(result->seconds, 5);
}

TEST(Subprocess, does_not_wait_for_a_grandchild_that_keeps_the_pipes) {
  const auto result = run_subprocess(shell("sleep 30 & echo done"));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded());
  EXPECT_EQ(result->output, "done\n");
  EXPECT_LT(result->seconds, 5);
}

TEST(Subprocess, reports_a_signal) {
  const auto result = run_subprocess(shell("kill -SEGV $$"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->signal, SIGSEGV);
}

TEST(Subprocess, ends_when_it_is_cancelled) {
  SubprocessRequest request = shell("echo begun; exec sleep 600");
  int asked = 0;
  request.cancelled = [&] { return ++asked > 3; };
  const auto result = run_subprocess(request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->cancelled);
  EXPECT_FALSE(result->timed_out);
  EXPECT_FALSE(result->succeeded());
  EXPECT_EQ(result->signal, SIGKILL);
}

TEST(Subprocess, is_cancelled_after_it_closed_its_output) {
  SubprocessRequest request = shell("exec >&- 2>&-; exec sleep 600");
  int asked = 0;
  request.cancelled = [&] { return ++asked > 3; };
  const auto result = run_subprocess(request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->cancelled);
}

// The thread that starts it is killed with its process; the program must follow.
TEST(Subprocess, dies_with_whoever_started_it) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t starter = ::fork();
  if (starter == 0) {
    SubprocessRequest request = shell("echo $$ >&3; exec sleep 600");
    request.dies_with_us = true;
    ::dup2(ends[1], 3);
    static_cast<void>(run_subprocess(request));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::array<char, 32> text{};
  ASSERT_GT(::read(ends[0], text.data(), text.size() - 1), 0);
  const auto program = static_cast<pid_t>(std::strtol(text.data(), nullptr, 10));
  ASSERT_EQ(::kill(program, 0), 0);
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  // The end of the pipe comes when the last who could write to it is gone.
  EXPECT_EQ(::read(ends[0], text.data(), text.size()), 0);
  ::close(ends[0]);
}

TEST(Subprocess, caps_the_output) {
  SubprocessRequest request = shell("head -c 3000000 /dev/zero");
  request.output_limit = 1000;
  const auto result = run_subprocess(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output.size(), 1000U);
  EXPECT_TRUE(result->output_truncated);
  EXPECT_TRUE(result->succeeded());
}

TEST(Subprocess, limits_the_size_of_files) {
  SubprocessRequest request = shell("head -c 100000 /dev/zero > kernevo_subprocess_test_file");
  const TestFolder folder;
  request.folder = folder.path();
  request.file_limit_bytes = 4096;
  const auto result = run_subprocess(request);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->succeeded());
}

TEST(Subprocess, a_missing_program_is_an_error_that_names_it) {
  SubprocessRequest request;
  request.arguments = {"/no/such/program"};
  const auto result = run_subprocess(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::infrastructure);
  EXPECT_THAT(result.error().message, HasSubstr("/no/such/program"));
}

TEST(Subprocess, no_arguments_is_an_error) {
  EXPECT_FALSE(run_subprocess({}));
}

} // namespace
} // namespace kernevo
