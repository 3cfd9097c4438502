// The disk fills up in the middle of a run: in a child process, whose files may not grow beyond a
// limit, and on a small disk of its own where the system lets a test make one.
#include "store_fixture.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace kernevo::store {
namespace {

using testing::HasSubstr;

class FullDisk : public JournalTest {
protected:
  // In a child: limits itself, then writes until it fails. What it says is returned: "N error".
  std::string fill(const std::function<bool()>& limit, const std::filesystem::path& at) const {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string said = "skip";
      if (limit()) {
        auto journal = create_journal(at);
        if (!journal)
          said = "0 " + format_error(journal.error());
        Result<void> written;
        Step step = 0;
        while (journal && written && step < 100'000)
          written = (*journal)->append(directive(step++));
        if (journal && !written) {
          const auto again = (*journal)->append(directive(step));
          std::int64_t count = 0;
          const auto read = (*journal)->read(1, [&](const StoredEvent&) { return ++count > 0; });
          said = fmt::format("{} {}\n{} {}", (*journal)->events(), format_error(written.error()),
                             count, read ? (again ? "again" : "whole") : "unreadable");
        }
      }
      static_cast<void>(!write(ends[1], said.data(), said.size()));
      _exit(0);
    }
    close(ends[1]);
    std::string said;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;)
      said.append(buffer.data(), static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "the child must not be killed by the system";
    return said;
  }

  static void expect_full(const std::string& said) {
    std::istringstream lines(said);
    std::int64_t told = 0;
    std::int64_t read = 0;
    std::string error;
    std::string state;
    lines >> told;
    std::getline(lines, error);
    lines >> read >> state;
    EXPECT_THAT(error, HasSubstr("the disk is full"));
    EXPECT_THAT(error, HasSubstr("free some space"));
    EXPECT_GT(told, 10);
    EXPECT_EQ(read, told) << "what was stored before is safe";
    EXPECT_EQ(state, "whole");
  }
};

TEST_F(FullDisk, AFileThatMayNotGrow) {
  std::filesystem::create_directories(folder_);
  const std::string said = fill(
      [] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{600'000, 600'000};
        return setrlimit(RLIMIT_FSIZE, &limit) == 0;
      },
      folder_);
  expect_full(said);
  // Without the limit the run goes on.
  auto journal = open();
  const std::int64_t before = journal->events();
  EXPECT_EQ(events_of(*journal).size(), static_cast<std::size_t>(before));
  EXPECT_TRUE(journal->append(directive(200'000)));
  EXPECT_EQ(journal->events(), before + 1);
}

TEST_F(FullDisk, ASmallDisk) {
  std::filesystem::create_directories(folder_);
  const std::string said = fill(
      [this] {
        return unshare(CLONE_NEWNS) == 0 &&
               mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=512k") == 0;
      },
      folder_ / "run");
  if (said == "skip")
    GTEST_SKIP() << "this system lets a test mount nothing";
  expect_full(said);
}

} // namespace
} // namespace kernevo::store
