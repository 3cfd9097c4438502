#include "store_fixture.h"

#include <csignal>
#include <gmock/gmock.h>
#include <sys/wait.h>

namespace kernevo::store {
namespace {

using testing::HasSubstr;

TEST_F(JournalTest, ASecondWriterIsRefused) {
  auto writer = create();
  write_steps(*writer, 0, 1);
  const auto second = Journal::open(folder_, Journal::Access::write);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::usage);
  EXPECT_THAT(format_error(second.error()), HasSubstr("another kernevo is writing this run"));
  EXPECT_TRUE(is_one_line(second.error()));
  EXPECT_FALSE(repair_journal(folder_)) << "nor is it repaired meanwhile";
  EXPECT_TRUE(Journal::open(folder_, Journal::Access::read)) << "readers are welcome";
  writer.reset();
  EXPECT_TRUE(Journal::open(folder_, Journal::Access::write));
}

TEST_F(JournalTest, TheLockDiesWithItsProcess) {
  create();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto journal = Journal::open(folder_, Journal::Access::write);
    const char answer = journal ? 'y' : 'n';
    static_cast<void>(!write(ends[1], &answer, 1));
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(ends[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(Journal::open(folder_, Journal::Access::write));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Journal::open(folder_, Journal::Access::write));
  close(ends[0]);
  close(ends[1]);
}

} // namespace
} // namespace kernevo::store
