#include "kernevo/base/file_memo.h"

#include "kernevo/base/files.h"
#include "kernevo/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace kernevo {
namespace {

class FileMemoTest : public testing::Test {
protected:
  void write(const std::string& text) { ASSERT_TRUE(write_file_atomically(path_, text)); }
  Result<std::string> get() {
    return memo_.get(path_, [&](const std::filesystem::path& path) -> Result<std::string> {
      ++reads_;
      KERNEVO_TRY(text, read_text_file(path));
      if (text == "bad")
        return fail(ErrorCode::input, "bad");
      return text;
    });
  }

  TemporaryFolder folder_ = TemporaryFolder::make().value();
  std::filesystem::path path_ = folder_.path() / "file";
  FileMemo<std::string> memo_;
  int reads_ = 0;
};

TEST_F(FileMemoTest, ReadsOnceAsLongAsTheFileStays) {
  write("one");
  EXPECT_EQ(get().value(), "one");
  EXPECT_EQ(get().value(), "one");
  EXPECT_EQ(reads_, 1);
}

TEST_F(FileMemoTest, ReadsAgainWhatHasChanged) {
  write("one");
  EXPECT_EQ(get().value(), "one");
  write("three");
  EXPECT_EQ(get().value(), "three");
  EXPECT_EQ(reads_, 2);
}

TEST_F(FileMemoTest, KeepsNoFailure) {
  write("bad");
  EXPECT_FALSE(get());
  EXPECT_FALSE(get());
  EXPECT_EQ(reads_, 2);
  write("good");
  EXPECT_EQ(get().value(), "good");
}

TEST_F(FileMemoTest, AFileThatIsGoneIsNotRemembered) {
  write("one");
  EXPECT_TRUE(get());
  std::filesystem::remove(path_);
  EXPECT_FALSE(get());
}

TEST_F(FileMemoTest, ThreadsReadOnceTogether) {
  write("one");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] { EXPECT_EQ(get().value(), "one"); });
  }
  EXPECT_EQ(reads_, 1);
}

} // namespace
} // namespace kernevo
