#include "kernevo/base/printable.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const char* text :
       {"", "error 3 % of its tolerance", "Größe 10 µs → ∞", "日本語", "\U0001F600"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_json(text), text);
  }
}

TEST(Printable, EscapesWhatMovesTheCursor) {
  EXPECT_EQ(printable("\033[2K\rCORRECT"), "\\x1b[2K\\rCORRECT");
  EXPECT_EQ(printable("a\b\b\x7f"), "a\\x08\\x08\\x7f");
  EXPECT_EQ(printable("\u009b2K\u0085"), "\\u009b2K\\u0085"); // the same in one character
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, EscapesWhatTurnsTheDirection) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd\u061c"), "a\\u202eb\\u2066c\\u200fd\\u061c");
  EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\x9b"
                      "2K"),
            "\\x9b2K");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");          // an escape, too long
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b"); // so is this one
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Printable, LinesAreKeptWhereTheyAreMeant) {
  EXPECT_EQ(printable("a\n\tb\r\n", Lines::kept), "a\n\tb\\r\n");
  EXPECT_EQ(printable("a\n\tb"), "a\\n b");
}

TEST(Printable, JsonStaysTheSameValue) {
  EXPECT_EQ(printable_json("{\n \"a\": \"\\u001b\u009bx\u202e\x7f\"}"),
            "{\n \"a\": \"\\u001b\\u009bx\\u202e\\u007f\"}");
}

} // namespace
} // namespace kernevo
