#include "kernevo/toolchain/ptx_text.h"

#include "kernevo/base/hash.h"
#include "kernevo/base/printable.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace kernevo {

namespace {

template <class Function> void for_each_line(std::string_view text, Function&& function) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    function(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::string_view next_word(std::string_view& text) {
  text = trim(text);
  const std::size_t end = std::min(text.find_first_of(" \t,"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

int to_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

} // namespace

// Inline assembly may go on after such a directive, in the same line.
bool is_source_line(std::string_view line) {
  line = trim(line);
  const bool directive = line.starts_with(".loc\t") || line.starts_with(".loc ") ||
                         line.starts_with(".file\t") || line.starts_with(".file ");
  return directive && line.find(';') == std::string_view::npos;
}

std::vector<std::string> entry_names(std::string_view ptx) {
  static constexpr std::string_view entry_mark = ".entry ";
  std::vector<std::string> names;
  for_each_line(ptx, [&](std::string_view line) {
    const std::size_t at = line.find(entry_mark);
    if (at == std::string_view::npos || trim(line).starts_with("//"))
      return;
    const std::string_view rest = trim(line.substr(at + entry_mark.size()));
    names.emplace_back(rest.substr(0, rest.find_first_of(" \t(")));
  });
  return names;
}

std::string restore_file_name(std::string ptx, const std::string& file) {
  std::error_code ignored;
  const std::filesystem::path here = std::filesystem::current_path(ignored);
  const std::string absolute = fmt::format("\"{}\"", (here / file).string());
  const std::string wanted = fmt::format("\"{}\"", file);
  for (std::size_t at = ptx.find(".file"); at != std::string::npos;
       at = ptx.find(".file", at + 5)) {
    std::string line = ptx.substr(at, std::min(ptx.find('\n', at), ptx.size()) - at);
    const std::size_t length = line.size();
    if (const std::size_t name = line.find(absolute); name != std::string::npos)
      line.replace(name, absolute.size(), wanted);
    ptx.replace(at, length, printable(line, Lines::kept)); // a #line can call a file anything
  }
  return ptx;
}

std::string bare_ptx(std::string_view ptx) {
  std::string kept;
  kept.reserve(ptx.size());
  bool in_section = false;
  for_each_line(ptx, [&](std::string_view line) {
    // In inline assembly a "//" may stand in a comment of the other kind, before instructions.
    if (line.find("/*") == std::string_view::npos && line.find("*/") == std::string_view::npos)
      line = line.substr(0, line.find("//"));
    line = trim(line);
    if (line.starts_with(".section"))
      in_section = true;
    if (in_section) {
      in_section = !line.starts_with('}');
      return;
    }
    if (line.empty() || is_source_line(line))
      return;
    kept += line;
    kept += '\n';
  });
  return kept;
}

std::string hash_ptx(std::string_view ptx) {
  return sha256_hex(bare_ptx(ptx));
}

std::optional<int> source_line(std::string_view ptx, int ptx_line, const std::string& file) {
  int number = 0;
  int loc_file = 0;
  int loc_line = 0;
  std::map<int, std::string> files;
  for_each_line(ptx, [&](std::string_view line) {
    ++number;
    line = trim(line);
    if (line.starts_with(".loc") && number <= ptx_line) {
      line.remove_prefix(4);
      loc_file = to_number(next_word(line));
      loc_line = to_number(next_word(line));
    } else if (line.starts_with(".file")) {
      line.remove_prefix(5);
      const int index = to_number(next_word(line));
      const std::size_t open = line.find('"');
      if (open != std::string_view::npos)
        files[index] = std::string(line.substr(open + 1, line.find('"', open + 1) - open - 1));
    }
  });
  const auto found = files.find(loc_file);
  if (loc_line <= 0 || found == files.end() || found->second != file)
    return std::nullopt;
  return loc_line;
}

} // namespace kernevo
