#include "kernevo/base/printable.h"

#include <cstdint>
#include <fmt/format.h>

namespace kernevo {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1;
  bool valid = true;
};

// The character of UTF-8 at the start of the text; one byte that is none when it is malformed.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80)
    return {first, 1, true};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length)
    return {first, 1, false};
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U)
      return {first, 1, false};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return {first, 1, false};
  return {code, length, true};
}

bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

// Turns the direction of writing, or ends a line without a line feed.
bool rearranges(std::uint32_t code) {
  return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(const Character& character) {
  if (!character.valid)
    return fmt::format("\\x{:02x}", character.code);
  switch (character.code) {
  case '\n': return "\\n";
  case '\r': return "\\r";
  default: break;
  }
  return character.code < 0x80 ? fmt::format("\\x{:02x}", character.code)
                               : fmt::format("\\u{:04x}", character.code);
}

} // namespace

std::string printable(std::string_view text, Lines lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool layout = character.code == '\n' || character.code == '\t';
    if (layout && lines == Lines::kept)
      result += text.front();
    else if (character.code == '\t')
      result += ' ';
    else if (!character.valid || is_control(character.code) || rearranges(character.code))
      result += escaped(character);
    else
      result += text.substr(0, character.length);
    text.remove_prefix(character.length);
  }
  return result;
}

// The writer of JSON has escaped what is below a blank; ends of lines that are left are its own.
std::string printable_json(std::string json) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; at < json.size();) {
    const auto byte = static_cast<unsigned char>(json[at]);
    if (byte < 0x7F) {
      ++at;
      continue;
    }
    const Character character = first_character(std::string_view(json).substr(at));
    if (character.valid && (is_control(character.code) || rearranges(character.code))) {
      result.append(json, done, at - done);
      result += fmt::format("\\u{:04x}", character.code);
      done = at + character.length;
    }
    at += character.length;
  }
  if (done == 0)
    return json;
  return result.append(json, done);
}

} // namespace kernevo
