#include "kernevo/base/sandbox.h"

#include "kernevo/base/instrumented.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernevo {
namespace {

constexpr int kUnconfined = 100;

// What `attempt` gives in a process confined for native code.
int in_program(const std::function<int()>& attempt) {
  const pid_t child = fork();
  if (child == 0)
    _exit(confine_this_process(Confinement::program, {}) ? attempt() : kUnconfined);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int refused(long result) {
  return result == -1 && errno == EPERM ? 0 : 1;
}

class ProgramTest : public testing::Test {
protected:
  void SetUp() override {
    if (kInstrumented || in_program([] { return 0; }) == kUnconfined)
      GTEST_SKIP() << "this system filters no system calls";
  }
};

TEST_F(ProgramTest, ReadsAndWritesAndStartsThreads) {
  EXPECT_EQ(in_program([] {
              const int file = open("/dev/null", O_RDWR);
              int counted = 0;
              std::thread([&] { counted = static_cast<int>(write(file, "text", 4)); }).join();
              return counted == 4 && mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                                          0) != MAP_FAILED // NOLINT
                         ? 0
                         : 1;
            }),
            0);
}

TEST_F(ProgramTest, HasNoNetworkAndNoProcesses) {
  EXPECT_EQ(in_program([] { return refused(socket(AF_INET, SOCK_STREAM, 0)); }), 0);
  EXPECT_EQ(in_program([] { return refused(socket(AF_UNIX, SOCK_STREAM, 0)); }), 0);
  EXPECT_EQ(in_program([] { return refused(fork()); }), 0);
  EXPECT_EQ(in_program([] { return refused(execl("/bin/true", "true", nullptr)); }), 0);
  EXPECT_EQ(in_program([] { return refused(syscall(SYS_io_uring_setup, 1, nullptr)); }), 0);
}

TEST_F(ProgramTest, ReachesItselfAlone) {
  EXPECT_EQ(in_program([] { return refused(kill(getppid(), 0)); }), 0);
  EXPECT_EQ(in_program([] { return refused(kill(-1, 0)); }), 0);
  EXPECT_EQ(in_program([] { return kill(getpid(), 0); }), 0);
  EXPECT_EQ(in_program([] { return refused(syscall(SYS_ptrace, 0, getppid(), 0, 0)); }), 0);
  EXPECT_EQ(in_program([] { return refused(chmod("/", 0777)); }), 0);
}

TEST_F(ProgramTest, DiesWithItsParent) {
  EXPECT_EQ(in_program([] { return refused(prctl(PR_SET_PDEATHSIG, 0)); }), 0);
  EXPECT_EQ(in_program([] { return refused(setsid()); }), 0);
}

} // namespace
} // namespace kernevo
