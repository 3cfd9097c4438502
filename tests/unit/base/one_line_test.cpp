#include "kernevo/base/one_line.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

TEST(OneLine, FoldsBlanksAndControls) {
  EXPECT_EQ(one_line("  a\n\tb\x01"
                     "c \r\n",
                     100),
            "a b c");
  EXPECT_EQ(one_line("", 10), "");
}

TEST(OneLine, EscapesWhatWouldDisturbTheLine) {
  EXPECT_EQ(one_line("a\u202eb\xff", 100), "a\\u202eb\\xff");
}

TEST(OneLine, CutsBetweenCharacters) {
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line("abcdef", 6), "abcdef");
  EXPECT_EQ(one_line("a\xC3\xA4z", 2), "a..."); // not half of it
}

} // namespace
} // namespace kernevo
