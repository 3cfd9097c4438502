#include "kernevo/llm/redactor.h"

#include "kernevo/base/one_line.h"

#include <array>
#include <cctype>
#include <charconv>

namespace kernevo::llm {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kShortestSecret = 8;
constexpr std::size_t kLongestLine = 400;

bool hex_is(std::string_view digits, char wanted) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 16);
  return error == std::errc() && end == digits.end() && value == static_cast<unsigned char>(wanted);
}

// How many bytes at the start of the text stand for this character; 0 when they do not.
std::size_t spelling_of(char wanted, std::string_view text) {
  if (text.starts_with(wanted))
    return 1;
  if (text.size() >= 2 && text[0] == '\\' && text[1] == wanted)
    return 2;
  if (text.size() >= 6 && text.starts_with("\\u") && hex_is(text.substr(2, 4), wanted))
    return 6;
  if (text.size() >= 3 && text[0] == '%' && hex_is(text.substr(1, 2), wanted))
    return 3;
  return 0;
}

// The length of the key as it is spelled at the start of the text; 0 when it is not there.
std::size_t key_at_start(std::string_view key, std::string_view text) {
  std::size_t used = 0;
  for (const char c : key) {
    const std::size_t length = spelling_of(c, text.substr(used));
    if (length == 0)
      return 0;
    used += length;
  }
  return used;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size())
    return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(text[i])) != word[i])
      return false;
  return true;
}

bool in_secret(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-_.~+/=*").find(c) != std::string_view::npos;
}

} // namespace

std::string Redactor::without_key(std::string_view text) const {
  if (key_.size() < kShortestSecret)
    return std::string(text);
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = key_at_start(key_, text.substr(i));
    if (length == 0) {
      clean += text[i++];
      continue;
    }
    clean += kRedacted;
    i += length;
  }
  return clean;
}

std::string Redactor::redact(std::string_view raw) const {
  static constexpr std::array<std::string_view, 5> kMarks = {
      "bearer ", "api_key=", "api-key=", "apikey=", "api_key: "};
  const std::string text = without_key(raw);
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    std::string_view mark;
    for (const std::string_view one : kMarks)
      if (starts_with_word(rest, one))
        mark = rest.substr(0, one.size());
    if (mark.empty()) {
      clean += text[i++];
      continue;
    }
    clean += mark;
    i += mark.size();
    const std::size_t begin = i;
    while (i < text.size() && in_secret(text[i]))
      ++i;
    if (i > begin)
      clean += kRedacted;
  }
  return clean;
}

std::string Redactor::one_line(std::string_view raw) const {
  return kernevo::one_line(redact(raw), kLongestLine);
}

} // namespace kernevo::llm
