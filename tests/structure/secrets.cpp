#include "secrets.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

namespace kernevo::structure {
namespace {

namespace fs = std::filesystem;

class Scanner {
public:
  explicit Scanner(const std::string& text) : text_(text) {}

  SourceText run() {
    while (at_ < text_.size()) {
      if (starts("//"))
        skip(text_.find('\n', at_));
      else if (starts("/*"))
        skip(end_of("*/", at_ + 2));
      else if (starts("R\"") && !after_word())
        raw_literal();
      else if (text_[at_] == '"' || (text_[at_] == '\'' && !after_word()))
        literal(text_[at_]);
      else
        put(parts_.code, text_[at_++]);
    }
    return std::move(parts_);
  }

private:
  bool starts(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
  // A digit separator, or the end of a name that ends in R.
  bool after_word() const {
    return at_ > 0 &&
           (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0 || text_[at_ - 1] == '_');
  }
  std::size_t end_of(const std::string& what, std::size_t from) const {
    const std::size_t found = text_.find(what, from);
    return found == std::string::npos ? found : found + what.size();
  }

  // Lines are kept on both sides.
  void put(std::string& to, char c) {
    if (c == '\n') {
      parts_.code += c;
      parts_.literals += c;
    } else {
      to += c;
    }
  }

  void skip(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_)
      if (text_[at_] == '\n')
        put(parts_.code, '\n');
  }

  void literal(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      if (at_ < text_.size())
        put(parts_.literals, text_[at_]);
    }
    ++at_;
    parts_.literals += ' ';
  }

  void raw_literal() {
    const std::size_t open = text_.find('(', at_);
    const std::string close = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
    const std::size_t end = std::min(text_.find(close, open), text_.size());
    for (at_ = open + 1; at_ < end; ++at_)
      put(parts_.literals, text_[at_]);
    at_ = std::min(text_.size(), end + close.size());
    parts_.literals += ' ';
  }

  const std::string& text_;
  std::size_t at_ = 0;
  SourceText parts_;
};

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Regular expressions are slow, and hardly a line has any of these.
bool may_match(const std::string& line) {
  for (const char* part :
       {"hidden", "Hidden", "HIDDEN", "check_shapes", "draw_shapes", "diagnose_fully"})
    if (line.find(part) != std::string::npos)
      return true;
  return false;
}

void find(const std::string& lines, const std::regex& pattern, const std::string& file,
          const char* what, std::vector<SpokenSecret>& spoken) {
  std::istringstream stream(lines);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number)
    if (may_match(line) && std::regex_search(line, pattern))
      spoken.push_back({file, fmt::format("{}:{} {}", file, number, what)});
}

} // namespace

SourceText take_apart(const std::string& text) {
  return Scanner(text).run();
}

std::vector<SpokenSecret> spoken_secrets(const fs::path& root) {
  static const std::regex words("[Hh]idden|HIDDEN|check_shapes");
  static const std::regex decisions(
      R"((\.|->)\s*hidden\b|\bcheck_shapes(_given)?\b|\bdraw_shapes\b|\bRung::hidden_shapes\b|\bdiagnose_fully\b)");
  std::vector<SpokenSecret> spoken;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp")
      continue;
    const std::string file = fs::relative(entry.path(), root).generic_string();
    const SourceText parts = take_apart(read(entry.path()));
    find(parts.literals, words, file, "words hidden shapes", spoken);
    find(parts.code, decisions, file, "decides by hidden shapes", spoken);
  }
  return spoken;
}

} // namespace kernevo::structure
