#include "kernevo/ptx/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kernevo::ptx {
namespace {

using testing::ElementsAre;

std::vector<std::string> tokens(std::string_view text) {
  Lexer lexer(text);
  std::vector<std::string> made;
  for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next())
    made.emplace_back(token.kind == Token::Kind::bad ? "<bad>" : std::string(token.text));
  return made;
}

TEST(LexerTest, Words) {
  EXPECT_THAT(tokens("%r1 $L__BB0_1 _ .reg .L2::128B %tid.x"),
              ElementsAre("%r1", "$L__BB0_1", "_", ".reg", ".L2::128B", "%tid", ".x"));
  EXPECT_THAT(tokens("a::b"), ElementsAre("a", ":", ":", "b"));
}

TEST(LexerTest, Numbers) {
  EXPECT_THAT(tokens("1 0x1F 0b01 7U 0f3F800000 1.5 1.5e-3 2e9 8.0"),
              ElementsAre("1", "0x1F", "0b01", "7U", "0f3F800000", "1.5", "1.5e-3", "2e9", "8.0"));
  EXPECT_THAT(tokens("1+-2"), ElementsAre("1", "+", "-", "2"));
  EXPECT_THAT(tokens("12abc"), ElementsAre("12abc"));
}

TEST(LexerTest, CommentsAndPlaces) {
  Lexer lexer("// one\n/* two\n three */ add");
  const Token token = lexer.next();
  EXPECT_EQ(token.text, "add");
  EXPECT_EQ(token.line, 3U);
  EXPECT_EQ(token.column, 11U);
  EXPECT_THAT(tokens("a // b"), ElementsAre("a"));
}

TEST(LexerTest, BadCharacters) {
  EXPECT_THAT(tokens(std::string_view("a\0b", 3)), ElementsAre("a", "<bad>", "b"));
  EXPECT_THAT(tokens("/* never"), ElementsAre("<bad>", "never"));
  EXPECT_THAT(tokens("\"open"), ElementsAre("<bad>", "open"));
  EXPECT_THAT(tokens("`"), ElementsAre("<bad>"));
  EXPECT_THAT(tokens("\"closed\""), ElementsAre("closed"));
}

TEST(LexerTest, WholeMnemonic) {
  Lexer lexer("ld.global.L2::128B.v4.f32 %r1");
  EXPECT_EQ(lexer.whole_mnemonic(lexer.next()).text, "ld.global.L2::128B.v4.f32");
  EXPECT_EQ(lexer.next().text, "%r1");
}

} // namespace
} // namespace kernevo::ptx
