#include "kernevo/base/text_diff.h"

#include <gtest/gtest.h>
#include <random>

namespace kernevo {
namespace {

TEST(TextDiff, EqualTextsHaveNone) {
  EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n", "x", "y"), "");
  EXPECT_EQ(unified_diff("", "", "x", "y"), "");
}

TEST(TextDiff, ShowsAChangedLineInThreeLinesOfContext) {
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "x", "y"),
            "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(TextDiff, NamesEmptyRangesByTheLineBefore) {
  EXPECT_EQ(unified_diff("", "a\n", "x", "y"), "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unified_diff("a\nb\n", "", "x", "y"), "--- x\n+++ y\n@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST(TextDiff, SaysThatTheLastNewlineIsMissing) {
  EXPECT_EQ(unified_diff("a\n", "a", "x", "y"),
            "--- x\n+++ y\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
}

TEST(TextDiff, PartsHunksThatAreFarFromEachOther) {
  std::string before;
  for (int i = 0; i < 20; ++i)
    before += std::to_string(i) + "\n";
  std::string after = "new\n" + before;
  after.replace(after.find("18\n"), 3, "");
  const std::string diff = unified_diff(before, after, "x", "y");
  EXPECT_NE(diff.find("@@ -1,3 +1,4 @@\n+new\n 0\n"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -16,5 +17,4 @@\n 15\n 16\n 17\n-18\n 19\n"), std::string::npos) << diff;
}

// What is kept and added, in order, is the second text; what is kept and removed the first.
TEST(TextDiff, RebuildsBothTextsAndIsAsShortAsTheLongestCommonSubsequenceAllows) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::string a;
    std::string b;
    for (std::string* text : {&a, &b})
      for (unsigned n = random() % 12; n > 0; --n)
        *text += std::string(1, static_cast<char>('a' + random() % 3)) + "\n";
    if (a == b)
      continue;
    const std::string diff = unified_diff(a, b, "x", "y");
    std::string old_text;
    std::string new_text;
    std::size_t changes = 0;
    for (std::size_t at = diff.find("@@ -"); at < diff.size(); at = diff.find('\n', at) + 1) {
      const std::string rest = diff.substr(at + 1, diff.find('\n', at) - at);
      if (diff[at] == ' ' || diff[at] == '-')
        old_text += rest;
      if (diff[at] == ' ' || diff[at] == '+')
        new_text += rest;
      changes += diff[at] == '-' || diff[at] == '+' ? 1 : 0;
    }
    // Texts of at most 11 lines over three letters: hunks leave out kept lines only at the ends.
    std::vector<std::vector<std::size_t>> common(a.size() / 2 + 1,
                                                 std::vector<std::size_t>(b.size() / 2 + 1, 0));
    for (std::size_t i = 1; i <= a.size() / 2; ++i)
      for (std::size_t j = 1; j <= b.size() / 2; ++j)
        common[i][j] = a[2 * i - 2] == b[2 * j - 2] ? common[i - 1][j - 1] + 1
                                                    : std::max(common[i - 1][j], common[i][j - 1]);
    EXPECT_EQ(changes, a.size() / 2 + b.size() / 2 - 2 * common.back().back()) << a << "|" << b;
    EXPECT_NE(a.find(old_text), std::string::npos) << diff;
    EXPECT_NE(b.find(new_text), std::string::npos) << diff;
  }
}

} // namespace
} // namespace kernevo
