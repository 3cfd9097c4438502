// What a library said before it ended its process reaches the judge.
#include "kernevo/device/last_words.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo {
namespace {

// The line that is kept when a process writes this to its standard error and ends.
std::string kept_of(const std::string& text) {
  const LastWords words;
  const pid_t child = fork();
  if (child == 0) {
    LastWords::keep_in(FileDescriptor(dup(words.descriptor())));
    const bool said =
        write(STDERR_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(said ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return words.line();
}

TEST(LastWords, AreTheLastLine) {
  EXPECT_EQ(kept_of(""), "");
  EXPECT_EQ(kept_of("\n \n"), "");
  EXPECT_EQ(kept_of("no end"), "no end");
  EXPECT_EQ(kept_of("first\nsecond\n"), "second");
  EXPECT_EQ(kept_of(std::string(100'000, 'x') + "\nthe end\n\n"), "the end");
}

TEST(LastWords, MoveNoCursor) {
  EXPECT_EQ(kept_of("red \x1b[31m\n"), "red \\x1b[31m");
}

} // namespace
} // namespace kernevo
