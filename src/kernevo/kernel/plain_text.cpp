#include "kernevo/kernel/plain_text.h"

#include "kernevo/base/identifier.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kernevo {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// The length of a well-formed UTF-8 sequence that begins here; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xF0 && lead <= 0xF4   ? 4
                             : lead >= 0xE0                 ? 3
                             : lead >= 0xC2 && lead <= 0xDF ? 2
                                                            : 0;
  if (length == 0 || lead > 0xF4 || text.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U)
      return 0;
  return length;
}

class Reader {
public:
  Reader(std::string_view source, const std::string& file, int first_line)
      : source_(source), file_(file), line_(first_line) {}

  std::optional<Error> read() {
    const int first_line = line_;
    while (at_ < source_.size() && !error_)
      character();
    if (error_)
      return std::move(error_);
    at_ = 0;
    line_ = first_line;
    line_begin_ = 0;
    while (at_ < source_.size() && !error_)
      step();
    return std::move(error_);
  }

private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  bool at(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  void refuse(std::string what, std::string fix) {
    if (!error_)
      error_ = Error{ErrorCode::input, std::move(what),
                     Place{file_, line_, static_cast<int>(at_ - line_begin_) + 1}, std::move(fix)};
  }

  // One character further, whatever stands around it.
  void advance(std::size_t count = 1) {
    for (; count > 0 && at_ < source_.size(); --count, ++at_)
      if (source_[at_] == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      }
  }

  std::size_t splice() const {
    if (peek() != '\\')
      return 0;
    if (peek(1) == '\n')
      return 2;
    return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  }

  // What is wrong wherever it stands, in comments too.
  void character() {
    const char c = peek();
    const auto code = static_cast<unsigned char>(c);
    std::size_t length = 1;
    if ((code < ' ' && c != '\n' && c != '\t' && !(c == '\r' && peek(1) == '\n')) || c == '\x7f') {
      refuse(fmt::format("a control character (0x{:02x}), which some compilers take for the end of "
                         "a line and others for space",
                         code),
             "remove it");
    } else if (c == '?' && peek(1) == '?' && peek(2) != '\0' &&
               std::string_view("=/'()!<>-").find(peek(2)) != std::string_view::npos) {
      refuse(fmt::format("'{}' is a trigraph: another character for some compilers",
                         source_.substr(at_, 3)),
             "write a space between the question marks");
    } else if (c == '\\') {
      bad_backslash();
    } else if (code >= 0x80) {
      length = utf8_length(source_.substr(at_));
      if (length == 0)
        refuse("bytes that are not UTF-8", "save the file as UTF-8");
    }
    advance(length);
  }

  void bad_backslash() {
    std::size_t end = at_ + 1;
    while (end < source_.size() && is_blank(source_[end]))
      ++end;
    const bool line_end = end >= source_.size() || source_[end] == '\n' ||
                          (source_[end] == '\r' && end + 1 < source_.size());
    if (line_end && end > at_ + 1)
      refuse("space after a '\\' at the end of a line: for some compilers the next line belongs to "
             "this one, for others not",
             "remove the space or the '\\'");
    else if (end >= source_.size() || at_ + splice() >= source_.size())
      refuse("the file ends with a '\\', so that whatever follows it would belong to its last line",
             "remove it");
  }

  void step() {
    const char c = peek();
    if (splice() > 0)
      splice_in_code();
    else if (at("//"))
      line_comment();
    else if (at("/*"))
      block_comment();
    else if (c == '"' || c == '\'')
      quoted(c);
    else if (starts_name(c))
      name();
    else if (is_digit(c) || (c == '.' && is_digit(peek(1))))
      number();
    else
      punctuation();
  }

  // A splice may stand between tokens, not inside one: "__CU\<newline>DA__" is one name.
  void splice_in_code() {
    static constexpr std::string_view parting = ";{},()";
    const char before = at_ > 0 ? source_[at_ - 1] : ' ';
    const char after = at_ + splice() < source_.size() ? source_[at_ + splice()] : ' ';
    const auto parts = [](char c) {
      return is_blank(c) || c == '\n' || c == '\r' || parting.find(c) != std::string_view::npos;
    };
    if (!parts(before) && !parts(after)) {
      refuse("a '\\' at the end of the line may join two halves of a word",
             "write a space before the '\\'");
      return;
    }
    advance(splice());
  }

  void line_comment() {
    while (at_ < source_.size() && peek() != '\n')
      advance(std::max<std::size_t>(splice(), 1));
  }

  void block_comment() {
    const std::size_t begin = at_;
    const int line = line_;
    const std::size_t line_begin = line_begin_;
    advance(2);
    while (at_ < source_.size() && !at("*/")) {
      if (splice() > 0 && source_[at_ - 1] == '*' && at_ + splice() < source_.size() &&
          source_[at_ + splice()] == '/') {
        refuse("a '\\' parts the '*/' that ends a comment", "write it in one line");
        return;
      }
      advance();
    }
    if (at_ >= source_.size()) {
      at_ = begin;
      line_ = line;
      line_begin_ = line_begin;
      refuse("a comment that is never closed", "write '*/' where it ends");
      return;
    }
    advance(2);
  }

  void quoted(char mark) {
    const std::size_t begin = at_;
    advance();
    while (at_ < source_.size() && peek() != mark) {
      if (splice() > 0) {
        refuse("a '\\' continues a string in the next line", "end the string and begin another");
        return;
      }
      if (peek() == '\n')
        break;
      advance(peek() == '\\' && splice_after_escape() == 0 ? 2 : 1);
    }
    if (peek() != mark || at_ >= source_.size()) {
      at_ = std::max(begin, line_begin_);
      refuse(fmt::format("a {} that is never closed in its line", mark),
             mark == '\'' ? "words such as \"don't\" belong in comments" : "close it");
      return;
    }
    advance();
  }

  // A backslash that is escaped may still splice: phases of translation come one after another.
  std::size_t splice_after_escape() const {
    return peek(1) == '\\' && (peek(2) == '\n' || (peek(2) == '\r' && peek(3) == '\n')) ? 1 : 0;
  }

  void name() {
    const std::size_t begin = at_;
    while (continues_name(peek()))
      advance();
    const std::string_view word = source_.substr(begin, at_ - begin);
    if (peek() != '"')
      return;
    static constexpr std::array<std::string_view, 5> raw = {"R", "LR", "uR", "UR", "u8R"};
    static constexpr std::array<std::string_view, 4> prefixes = {"L", "u", "U", "u8"};
    if (std::find(raw.begin(), raw.end(), word) != raw.end())
      refuse("a raw string, which hides quotes, comments and # lines from some preprocessors",
             "write ordinary strings, one for each line");
    else if (std::find(prefixes.begin(), prefixes.end(), word) == prefixes.end())
      refuse(fmt::format("'{}' touches the string after it", word), "write a space between them");
  }

  void number() {
    while (continues_name(peek()) || peek() == '.' || (peek() == '\'' && continues_name(peek(1))))
      advance();
  }

  void punctuation() {
    const char c = peek();
    // x<::y> is '<' and '::' for every compiler since C++11.
    const bool bracket = at("<:") && (peek(2) != ':' || peek(3) == ':' || peek(3) == '>');
    if (bracket || at(":>") || at("<%") || at("%>") || at("%:"))
      refuse(fmt::format("'{}' is a digraph", source_.substr(at_, 2)),
             "write the brackets or '#' themselves");
    else if (c == '\\')
      refuse("a '\\' outside strings and comments", "remove it");
    else if (c == '$' || c == '@' || c == '`')
      refuse(fmt::format("'{}' is no part of C++", c), "choose another name, or make it a comment");
    else if (static_cast<unsigned char>(c) >= 0x80)
      refuse("a character outside ASCII, which not all compilers take for the same",
             "use it in comments and strings only");
    advance();
  }

  std::string_view source_;
  const std::string& file_;
  int line_;
  std::size_t line_begin_ = 0;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

} // namespace

std::optional<Error> find_unplain_text(std::string_view source, const std::string& file,
                                       int first_line) {
  return Reader(source, file, first_line).read();
}

} // namespace kernevo
