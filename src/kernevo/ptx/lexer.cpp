#include "kernevo/ptx/lexer.h"

#include "kernevo/base/identifier.h"

namespace kernevo::ptx {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_word(char c) {
  return continues_name(c) || c == '$';
}

} // namespace

bool Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++at_;
      ++line_;
      line_start_ = at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && at(at_ + 1) == '/') {
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == '/' && at(at_ + 1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos)
        return false;
      for (; at_ < end + 2; ++at_) {
        if (text_[at_] == '\n') {
          ++line_;
          line_start_ = at_ + 1;
        }
      }
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::make(Token::Kind kind, std::size_t length) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(at_, length);
  token.line = line_;
  token.column = static_cast<std::uint32_t>(at_ - line_start_) + 1;
  at_ += length;
  return token;
}

std::size_t Lexer::word_length(std::size_t from) const {
  std::size_t end = from;
  while (is_word(at(end)))
    ++end;
  return end - from;
}

std::size_t Lexer::number_length() const {
  std::size_t end = at_;
  const bool prefixed =
      at(end) == '0' && is_letter(at(end + 1)) && at(end + 1) != 'e' && at(end + 1) != 'E';
  if (prefixed)
    return word_length(at_);
  while (is_digit(at(end)))
    ++end;
  if (at(end) == '.' && is_digit(at(end + 1))) {
    ++end;
    while (is_digit(at(end)))
      ++end;
  } else if (at(end) == '.' && !is_letter(at(end + 1)) && at(end + 1) != '_') {
    ++end;
  }
  if (at(end) == 'e' || at(end) == 'E') {
    std::size_t digits = end + 1;
    if (at(digits) == '+' || at(digits) == '-')
      ++digits;
    if (is_digit(at(digits))) {
      end = digits;
      while (is_digit(at(end)))
        ++end;
    }
  }
  // Letters that run into a number make it a bad number, not two tokens.
  end += word_length(end);
  return end - at_;
}

Token Lexer::next() {
  if (!skip_space())
    return make(Token::Kind::bad, 2);
  if (at_ >= text_.size())
    return make(Token::Kind::end, 0);
  const char c = text_[at_];
  if (is_digit(c))
    return make(Token::Kind::number, number_length());
  if (is_word(c))
    return make(Token::Kind::identifier, word_length(at_));
  if (c == '%' && is_word(at(at_ + 1)))
    return make(Token::Kind::identifier, 1 + word_length(at_ + 1));
  if (c == '.' && is_word(at(at_ + 1))) {
    std::size_t end = at_ + 1 + word_length(at_ + 1);
    while (at(end) == ':' && at(end + 1) == ':' && is_word(at(end + 2)))
      end += 2 + word_length(end + 2);
    return make(Token::Kind::dotted, end - at_);
  }
  if (c == '"') {
    const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] == '\n')
      return make(Token::Kind::bad, 1);
    Token token = make(Token::Kind::string, end + 1 - at_);
    token.text = token.text.substr(1, token.text.size() - 2);
    return token;
  }
  constexpr std::string_view punctuation = "{}()[]<>,;:=+-*/%!~&|^?@";
  if (punctuation.find(c) != std::string_view::npos)
    return make(Token::Kind::punctuation, 1);
  return make(Token::Kind::bad, 1);
}

Token Lexer::whole_mnemonic(const Token& start) {
  Token token = start;
  const std::size_t begin = at_ - start.text.size();
  while (at(at_) == '.' && is_word(at(at_ + 1))) {
    at_ += 1 + word_length(at_ + 1);
    while (at(at_) == ':' && at(at_ + 1) == ':' && is_word(at(at_ + 2)))
      at_ += 2 + word_length(at_ + 2);
  }
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

char Lexer::peek() {
  if (!skip_space())
    return '\0';
  return at(at_);
}

bool Lexer::skip_block() {
  std::size_t depth = 1;
  while (true) {
    const Token token = next();
    if (token.kind == Token::Kind::end)
      return false;
    if (token.is('{'))
      ++depth;
    if (token.is('}') && --depth == 0)
      return true;
  }
}

} // namespace kernevo::ptx
