#include "kernevo/propose/reply_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace kernevo::propose {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The next '<name>' or '</name>' of reasoning.
struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool closing = false;
};

std::optional<Tag> next_tag(std::string_view text, std::size_t from) {
  static constexpr std::array<std::string_view, 4> names = {"think>", "thinking>", "thought>",
                                                            "reasoning>"};
  for (std::size_t at = text.find('<', from); at != std::string_view::npos;
       at = text.find('<', at + 1)) {
    const bool closing = text.substr(at + 1, 1) == "/";
    const std::size_t name_at = at + 1 + (closing ? 1 : 0);
    for (const std::string_view name : names) {
      const std::string_view found = text.substr(name_at, name.size());
      if (found.size() == name.size() && std::equal(found.begin(), found.end(), name.begin(),
                                                    [](char a, char b) { return lower(a) == b; }))
        return Tag{at, name_at + name.size(), closing};
    }
  }
  return std::nullopt;
}

struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::size_t indent = 0;
  std::string_view info; // what follows the marks
};

std::optional<Fence> fence_of(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(" \t");
  if (indent == std::string_view::npos || (line[indent] != '`' && line[indent] != '~'))
    return std::nullopt;
  Fence fence{line[indent], 0, indent, {}};
  const std::size_t end = std::min(line.find_first_not_of(fence.mark, indent), line.size());
  fence.length = end - indent;
  if (fence.length < 3)
    return std::nullopt;
  fence.info = line.substr(end);
  const std::size_t begin = std::min(fence.info.find_first_not_of(kBlanks), fence.info.size());
  fence.info.remove_prefix(begin);
  fence.info = fence.info.substr(0, fence.info.find_last_not_of(kBlanks) + 1);
  if (fence.info.find('`') != std::string_view::npos) // `code` in prose
    return std::nullopt;
  return fence;
}

std::string language_of(std::string_view info) {
  std::string word(info.substr(0, std::min(info.find_first_of(" \t{:"), std::size_t{20})));
  std::transform(word.begin(), word.end(), word.begin(), lower);
  return word;
}

std::string_view dedent(std::string_view line, std::size_t indent) {
  const std::size_t own = std::min(line.find_first_not_of(" \t"), line.size());
  return line.substr(std::min(own, indent));
}

// Bytes of the well-formed character at the front; 0 when there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80U)
    return 1;
  const std::size_t length = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
  if (first < 0xC2U || first > 0xF4U || text.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80U)
      return 0;
  const bool overlong = (first == 0xE0U && byte(1) < 0xA0U) || (first == 0xF0U && byte(1) < 0x90U);
  const bool beyond = (first == 0xEDU && byte(1) > 0x9FU) || (first == 0xF4U && byte(1) > 0x8FU);
  return overlong || beyond ? 0 : length;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80U) {
    put(code);
  } else if (code < 0x800U) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000U) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

// Reads strings out of text that was meant to be JSON.
class LooseJson {
public:
  explicit LooseJson(std::string_view text) : text_(text) {}

  std::vector<std::string> values(const std::vector<std::string_view>& keys) {
    std::vector<std::string> found;
    while ((at_ = text_.find('"', at_)) != std::string_view::npos) {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos)
        break;
      const std::string_view key = text_.substr(at_ + 1, end - at_ - 1);
      const std::size_t value = colon_and_quote(end + 1);
      if (value == 0) {
        at_ = end; // may begin a key
        continue;
      }
      const bool wanted = std::find(keys.begin(), keys.end(), key) != keys.end();
      at_ = value;
      std::string read = string();
      if (wanted)
        found.push_back(std::move(read));
    }
    return found;
  }

private:
  std::size_t skip_blanks(std::size_t at) const {
    return std::min(text_.find_first_not_of(kBlanks, at), text_.size());
  }
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  // Where the string after a ':' begins; 0 when there is none.
  std::size_t colon_and_quote(std::size_t i) const {
    i = skip_blanks(i);
    if (at(i) != ':')
      return 0;
    i = skip_blanks(i + 1);
    return at(i) == '"' ? i + 1 : 0;
  }

  // Whether a quote before here ends a string, though others were left bare inside it: what follows
  // must be the end of an object or of all, or a further key.
  bool ends_string(std::size_t i) const {
    i = skip_blanks(i);
    if (at(i) == ',') {
      i = skip_blanks(i + 1);
      if (at(i) != '"')
        return at(i) == '}' || at(i) == ']' || i >= text_.size();
      constexpr std::size_t longest_key = 40;
      const std::size_t end =
          text_.substr(0, std::min(text_.size(), i + longest_key)).find('"', i + 1);
      return end != std::string_view::npos && at(skip_blanks(end + 1)) == ':';
    }
    if (at(i) == '}' || at(i) == ']') {
      const std::size_t next = skip_blanks(i + 1);
      if (next >= text_.size() ||
          std::string_view(",}]`").find(text_[next]) != std::string_view::npos)
        return true;
      // Prose may follow on the next line, but not what follows C's {"text"}.
      return text_.substr(i, next - i).find('\n') != std::string_view::npos && text_[next] != ';' &&
             text_[next] != ')';
    }
    return i >= text_.size() || at(i) == '`';
  }

  std::optional<std::uint32_t> hex4(std::size_t i) const {
    if (i + 4 > text_.size())
      return std::nullopt;
    std::uint32_t code = 0;
    for (const char c : text_.substr(i, 4)) {
      const char digit = lower(c);
      if (digit >= '0' && digit <= '9')
        code = code * 16 + static_cast<std::uint32_t>(digit - '0');
      else if (digit >= 'a' && digit <= 'f')
        code = code * 16 + static_cast<std::uint32_t>(digit - 'a' + 10);
      else
        return std::nullopt;
    }
    return code;
  }

  void unicode(std::string& value) {
    auto code = hex4(at_);
    if (!code) {
      value += "\\u";
      return;
    }
    at_ += 4;
    if (*code >= 0xD800U && *code < 0xDC00U && text_.substr(at_, 2) == "\\u") {
      const auto low = hex4(at_ + 2);
      if (low && *low >= 0xDC00U && *low < 0xE000U) {
        at_ += 6;
        code = 0x10000U + ((*code - 0xD800U) << 10U) + (*low - 0xDC00U);
      }
    }
    append_utf8(value, *code >= 0xD800U && *code < 0xE000U ? 0xFFFDU : *code);
  }

  // From after the opening quote; leaves at_ after the closing one.
  std::string string() {
    std::string value;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && ends_string(at_))
        break;
      if (c != '\\' || at_ >= text_.size()) {
        value += c;
        continue;
      }
      switch (const char escaped = text_[at_++]) {
      case 'n': value += '\n'; break;
      case 't': value += '\t'; break;
      case 'r': value += '\r'; break;
      case 'b':
      case 'f': value += ' '; break;
      case 'u': unicode(value); break;
      case '"':
      case '/':
      case '\\': value += escaped; break;
      default: (value += '\\') += escaped;
      }
    }
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

} // namespace

std::string without_reasoning(std::string_view text) {
  std::string kept;
  std::size_t at = 0;
  int depth = 0;
  for (auto tag = next_tag(text, 0); tag; tag = next_tag(text, tag->end)) {
    if (depth == 0)
      kept.append(text.substr(at, tag->begin - at));
    if (tag->closing && depth == 0)
      kept.clear(); // its beginning was cut off
    depth = tag->closing ? 0 : 1;
    at = tag->end;
  }
  if (depth == 0)
    kept.append(text.substr(at));
  return kept;
}

ReplyParts split_reply(std::string_view text) {
  ReplyParts parts;
  std::optional<Fence> open;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    const auto fence = fence_of(line);
    const bool closes = open && fence && fence->mark == open->mark && fence->info.empty() &&
                        fence->length >= open->length;
    if (closes) {
      parts.blocks.back().closed = true;
      open.reset();
    } else if (fence && (!open || !fence->info.empty())) {
      // No kernel has such a line: a fence with a language begins a block even where one is open.
      open = fence;
      parts.blocks.push_back({language_of(fence->info), "", false, at});
    } else if (open) {
      parts.blocks.back().text.append(dedent(line, open->indent)).push_back('\n');
    } else {
      parts.prose.append(line).push_back('\n');
    }
    at = end + 1;
  }
  return parts;
}

std::string clean_line(std::string_view text, std::size_t limit) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = character(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool c1 = length == 2 && first == 0xC2U && static_cast<unsigned char>(text[1]) < 0xA0U;
    if (length == 0 || first <= ' ' || first == 0x7FU || c1) {
      if (!line.empty() && line.back() != ' ')
        line += ' ';
    } else {
      if (line.size() + length > limit)
        break;
      line.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  while (line.ends_with(' '))
    line.pop_back();
  return line;
}

std::vector<std::string> json_strings(std::string_view text,
                                      const std::vector<std::string_view>& keys) {
  return LooseJson(text).values(keys);
}

} // namespace kernevo::propose
