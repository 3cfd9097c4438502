// kill -9 at random moments, --resume until the run ends: the journal must be the one of a run that
// was never killed, but for times and resumptions.
#include "kernevo/base/random.h"
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/store/open_journal.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kUsualKills = 6;
constexpr int kKillsOfARun = 6;
constexpr const char* kTask =
    "op_name: softmax\nshapes: [[64, 512]]\ndtype: float32\ntarget_gpu: A100\n";

struct Seen {
  std::vector<std::string> bodies;
  std::string fold;
  std::vector<std::string> memo; // what was found out, by key
};

class KillTest : public KernelTest {
protected:
  void SetUp() override {
    KernelTest::SetUp();
    folder_.write("task.yaml", kTask);
  }

  // Starts the program, or resumes the run if there is one. A moment in seconds, or to the end.
  // True when it ended by itself.
  bool go(const std::string& run, std::optional<double> moment) const {
    const fs::path out = folder_.path() / run;
    std::vector<std::string> arguments = {program_path(), "evolve", "-q", "--out", out.string()};
    if (has_begun(out))
      arguments.insert(arguments.end(), {"--resume", "--jobs", "2"});
    else
      arguments.insert(arguments.end(),
                       {(folder_.path() / "task.yaml").string(), "--evaluations", "12",
                        "--first-tuning", "2", "--seed", "5", "--inputs", "5", "--jobs", "2"});
    const pid_t child = fork();
    if (child == 0) {
      std::vector<char*> argv;
      for (std::string& argument : arguments)
        argv.push_back(argument.data());
      argv.push_back(nullptr);
      static_cast<void>(!freopen("/dev/null", "w", stdout));
      execv(program_path().c_str(), argv.data());
      _exit(127);
    }
    const auto began = Clock::now();
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (moment && std::chrono::duration<double>(Clock::now() - began).count() > *moment) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << "status " << status;
    return true;
  }

  // Killed before its first event it is no run yet, and starts anew.
  static bool has_begun(const fs::path& out) {
    if (!store::holds_run(out)) {
      fs::remove_all(out);
      return false;
    }
    auto journal = store::open_journal(out, store::Journal::Access::read);
    EXPECT_TRUE(journal) << format_error(journal.error());
    if (journal && (*journal)->events() > 0)
      return true;
    journal = fail(ErrorCode::usage, "closed");
    fs::remove_all(out);
    return false;
  }

  Seen look(const std::string& run) const {
    Seen seen;
    auto journal = *store::open_journal(folder_.path() / run, store::Journal::Access::read);
    evolve::RunState all;
    EXPECT_TRUE(journal->read(1, [&](const store::StoredEvent& stored) {
      all.apply(stored.event);
      if (!std::holds_alternative<RunResumed>(stored.event))
        seen.bodies.push_back(to_json(stored.event));
      return true;
    }));
    const auto state = evolve::fold_journal(*journal);
    EXPECT_TRUE(state && *state == all) << "the snapshot is of these events";
    seen.fold = to_json(all);
    const auto audit = journal->audit_blobs();
    EXPECT_TRUE(audit && audit->orphans.empty() && audit->missing.empty());
    const auto keys = journal->remembered();
    EXPECT_TRUE(keys);
    seen.memo = keys.value_or(std::vector<std::string>());
    return seen;
  }

  const TestFolder folder_;
};

// A run's name and where it lies are its own.
std::string without_name(std::string text, const std::string& name) {
  const std::string mark = fmt::format("\"run\":\"{}\"", name);
  if (const std::size_t at = text.find(mark); at != std::string::npos)
    text.replace(at, mark.size(), "\"run\":\"\"");
  return text;
}

TEST_F(KillTest, AKilledRunEndsAsIfItHadNotBeen) {
  ASSERT_TRUE(go("warm", std::nullopt)); // fills the caches of builds
  ASSERT_FALSE(HasFailure());
  const auto began = Clock::now();
  ASSERT_TRUE(go("whole", std::nullopt));
  const double whole_seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const Seen whole = look("whole");
  ASSERT_GT(whole.bodies.size(), 8U);
  const char* wanted = std::getenv("KERNEVO_KILLS");
  const int kills = wanted == nullptr ? kUsualKills : std::max(1, std::atoi(wanted));
  const CounterRandom random(static_cast<std::uint64_t>(getpid()));
  int done = 0;
  for (int number = 0; done < kills && !HasFailure(); ++number) {
    const std::string name = fmt::format("killed-{}", number);
    bool ended = false;
    for (int k = 0; k < kKillsOfARun && done < kills && !ended; ++k) {
      const double moment = random.uniform(static_cast<std::uint64_t>(100 * number + k)) *
                            whole_seconds * (k == 0 ? 0.9 : 0.5);
      ended = go(name, moment);
      done += ended ? 0 : 1;
    }
    if (!ended) {
      ASSERT_TRUE(go(name, std::nullopt));
    }
    const Seen seen = look(name);
    ASSERT_EQ(seen.bodies.size(), whole.bodies.size());
    for (std::size_t i = 0; i < whole.bodies.size(); ++i)
      EXPECT_EQ(without_name(seen.bodies[i], name), without_name(whole.bodies[i], "whole")) << i;
    EXPECT_EQ(without_name(seen.fold, name), without_name(whole.fold, "whole"));
    EXPECT_EQ(seen.memo, whole.memo) << "nothing else was found out, and nothing less";
  }
  fmt::print("{} kills; a whole run takes {:.1f} s\n", done, whole_seconds);
}

} // namespace
} // namespace kernevo
