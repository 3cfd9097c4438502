// PTX text -> tokens, one at a time; a token is a view of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernevo::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier, // also %r1 and $L__BB0_1
    dotted,     // .name, with any ::name that follows; text includes the dot
    number,     // integer or real, not yet converted
    string,     // text is without the quotes
    punctuation,
    bad, // a character PTX has no use for, or an unclosed string or comment
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  bool is(char c) const { return kind == Kind::punctuation && text.front() == c; }
  bool is(std::string_view dotted) const { return kind == Kind::dotted && text == dotted; }
};

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  // Extends the identifier just read to the whole mnemonic: add -> add.sat.s32.
  Token whole_mnemonic(const Token& start);
  // The next character that is neither space nor comment, not consumed; 0 at the end.
  char peek();
  // After the '{' just read: goes past its '}'. False when there is none.
  bool skip_block();

private:
  bool skip_space(); // false for an unclosed comment
  Token make(Token::Kind kind, std::size_t length);
  std::size_t number_length() const;
  std::size_t word_length(std::size_t from) const;
  char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

} // namespace kernevo::ptx
