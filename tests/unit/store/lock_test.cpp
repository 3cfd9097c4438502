#include "store_fixture.h"

#include <csignal>
#include <sys/wait.h>

namespace kernevo::store {
namespace {

TEST_F(JournalTest, TheLockDiesWithItsProcess) {
  create();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto journal = open_journal(folder_, Journal::Access::write);
    const char answer = journal ? 'y' : 'n';
    static_cast<void>(!write(ends[1], &answer, 1));
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(ends[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(open_journal(folder_, Journal::Access::write));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(open_journal(folder_, Journal::Access::write));
  close(ends[0]);
  close(ends[1]);
}

} // namespace
} // namespace kernevo::store
