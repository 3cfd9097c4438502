#include "kernevo/propose/edits.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>

namespace kernevo::propose {
namespace {

constexpr std::size_t kLeastMarker = 5;
constexpr std::size_t kMostEdits = 64;
constexpr std::size_t kMostSource = 1U << 20U;
constexpr std::size_t kMostSearchLines = 4000;
constexpr std::size_t kQuoted = 80;

std::string_view trim_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string_view trim(std::string_view text) {
  text = trim_end(text);
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Without line ends; a last line end begins no further line.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// How many of this character a marker line begins with, 0 when it is no marker; `rest` is what
// follows them.
std::size_t marker(std::string_view line, char c, std::string_view& rest) {
  line = trim(line);
  const std::size_t length = std::min(line.find_first_not_of(c), line.size());
  if (length < kLeastMarker)
    return 0;
  rest = trim(line.substr(length));
  return length;
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'a' && b <= 'z' ? static_cast<char>(b - 'a' + 'A') : b);
         });
}

std::size_t opener(std::string_view line) {
  std::string_view rest;
  const std::size_t length = marker(line, '<', rest);
  return begins_with_word(rest, "SEARCH") ? length : 0;
}
std::size_t divider(std::string_view line) {
  std::string_view rest;
  const std::size_t length = marker(line, '=', rest);
  return rest.empty() ? length : 0;
}
bool closes(std::string_view line) {
  std::string_view rest;
  return marker(line, '>', rest) > 0 && begins_with_word(rest, "REPLACE");
}

bool is_fence(std::string_view line) {
  const std::string_view text = trim(line);
  return text.starts_with("```") || text.starts_with("~~~");
}

using LineRange = std::pair<std::size_t, std::size_t>;

std::string join(const std::vector<std::string_view>& lines, LineRange range) {
  // A section may be fenced by itself.
  if (range.second - range.first >= 2 && is_fence(lines[range.first]) &&
      is_fence(lines[range.second - 1])) {
    ++range.first;
    --range.second;
  }
  std::string text;
  for (std::size_t i = range.first; i < range.second; ++i) {
    std::string_view line = lines[i];
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    text.append(line).push_back('\n');
  }
  return text;
}

std::string first_line(std::string_view text) {
  for (const std::string_view line : lines_of(text))
    if (const std::string_view shown = trim(line); !shown.empty())
      return std::string(shown.substr(0, kQuoted));
  return "";
}

// Of several lines that look like the divider the one as long as the opener is it.
std::optional<std::size_t> choose_divider(const std::vector<std::string_view>& lines,
                                          const std::vector<std::size_t>& found,
                                          std::size_t length) {
  if (found.size() == 1)
    return found.front();
  std::optional<std::size_t> chosen;
  for (const std::size_t at : found)
    if (divider(lines[at]) == length) {
      if (chosen)
        return std::nullopt;
      chosen = at;
    }
  return chosen;
}

// A source as numbers, one for each different line, so that searching compares numbers.
class Interned {
public:
  std::u32string lines(const std::vector<std::string_view>& texts) {
    std::u32string ids;
    ids.reserve(texts.size());
    for (const std::string_view text : texts)
      ids.push_back(ids_.try_emplace(text, static_cast<char32_t>(ids_.size())).first->second);
    return ids;
  }

private:
  std::unordered_map<std::string_view, char32_t> ids_;
};

struct Found {
  std::size_t places = 0; // counted up to 2
  std::size_t at = 0;
};

template <class Text> Found find_once(const Text& text, const Text& wanted) {
  Found found;
  found.at = text.find(wanted);
  if (found.at != Text::npos)
    found.places = text.find(wanted, found.at + 1) == Text::npos ? 1 : 2;
  return found;
}

std::string_view indentation(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// The replacement as deep as the source, where the search text was not.
std::string reindent(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::string_view line : lines_of(text)) {
    if (line.starts_with(from) && !trim(line).empty()) {
      line.remove_prefix(from.size());
      result.append(to);
    }
    result.append(line).push_back('\n');
  }
  return result;
}

// What to put where.
struct Patch {
  std::size_t end = 0;
  std::string text;
};

class Applier {
public:
  explicit Applier(std::string_view source) : source_(source), lines_(lines_of(source)) {
    starts_.reserve(lines_.size() + 1);
    for (const std::string_view line : lines_)
      starts_.push_back(static_cast<std::size_t>(line.data() - source.data()));
    starts_.push_back(source.size());
  }

  Result<void> add(const Edit& edit) {
    std::vector<std::string_view> wanted = lines_of(edit.search);
    while (!wanted.empty() && trim(wanted.back()).empty())
      wanted.pop_back();
    const auto text = std::find_if(wanted.begin(), wanted.end(),
                                   [](std::string_view line) { return !trim(line).empty(); });
    wanted.erase(wanted.begin(), text);
    if (wanted.empty())
      return fail(ErrorCode::input, "an edit has an empty SEARCH text");
    if (wanted.size() > kMostSearchLines)
      return error(edit, "is too long");
    for (Level& level : levels_) {
      const Found found = look_for(wanted, level);
      if (found.places > 1)
        return error(edit, "is found in several places");
      if (found.places == 1)
        return put(
            edit, starts_[found.at], starts_[found.at + wanted.size()],
            reindent(edit.replace, indentation(wanted.front()), indentation(lines_[found.at])));
    }
    if (wanted.size() == 1)
      return add_part(edit, trim(wanted.front()));
    return error(edit, "is not found");
  }

  std::string result() const {
    std::string text;
    std::size_t at = 0;
    for (const auto& [begin, patch] : patches_) {
      text.append(source_.substr(at, begin - at)).append(patch.text);
      at = patch.end;
    }
    return text.append(source_.substr(at));
  }

private:
  static std::string_view as_is(std::string_view line) { return line; }

  static tl::unexpected<Error> error(const Edit& edit, std::string_view what) {
    return fail(ErrorCode::input,
                fmt::format("the SEARCH text '{}' {}", first_line(edit.search), what));
  }

  // How lines are compared, and the source's lines so compared.
  struct Level {
    std::string_view (*same)(std::string_view);
    Interned interned;
    std::optional<std::u32string> lines;

    std::u32string ids(const std::vector<std::string_view>& texts) {
      std::vector<std::string_view> compared(texts.size());
      std::transform(texts.begin(), texts.end(), compared.begin(), same);
      return interned.lines(compared);
    }
  };

  Found look_for(const std::vector<std::string_view>& wanted, Level& level) const {
    if (!level.lines)
      level.lines = level.ids(lines_);
    return find_once(*level.lines, level.ids(wanted));
  }

  Result<void> add_part(const Edit& edit, std::string_view wanted) {
    const Found found = find_once(source_, wanted);
    if (found.places == 0)
      return error(edit, "is not found");
    if (found.places > 1)
      return error(edit, "is found in several places");
    return put(edit, found.at, found.at + wanted.size(), std::string(trim(edit.replace)));
  }

  Result<void> put(const Edit& edit, std::size_t begin, std::size_t end, std::string text) {
    const auto next = patches_.lower_bound(begin);
    if ((next != patches_.end() && next->first < end) ||
        (next != patches_.begin() && std::prev(next)->second.end > begin))
      return error(edit, "overlaps another one");
    patches_.emplace(begin, Patch{end, std::move(text)});
    return {};
  }

  std::string_view source_;
  std::vector<std::string_view> lines_;
  std::vector<std::size_t> starts_; // of each line, and the end
  std::array<Level, 3> levels_ = {Level{as_is, {}, {}}, {trim_end, {}, {}}, {trim, {}, {}}};
  std::map<std::size_t, Patch> patches_;
};

} // namespace

bool opens_edit(std::string_view line) {
  return opener(line) > 0;
}

Result<std::vector<Edit>> read_edits(std::string_view text) {
  std::vector<Edit> edits;
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (closes(lines[i]))
      return fail(ErrorCode::input, "a line '>>>>>>> REPLACE' ends no edit");
    const std::size_t length = opener(lines[i]);
    if (length == 0)
      continue;
    const std::size_t begin = i + 1;
    std::vector<std::size_t> dividers;
    while (++i < lines.size() && !closes(lines[i])) {
      if (opener(lines[i]) > 0)
        return fail(ErrorCode::input, "an edit begins inside another one");
      if (divider(lines[i]) > 0)
        dividers.push_back(i);
    }
    if (i >= lines.size())
      return fail(ErrorCode::input, "the last edit has no '>>>>>>> REPLACE'");
    const auto middle = choose_divider(lines, dividers, length);
    if (!middle)
      return fail(ErrorCode::input, dividers.empty()
                                        ? "an edit has no '=======' between its two parts"
                                        : "an edit has several lines that could be its '======='");
    edits.push_back({join(lines, {begin, *middle}), join(lines, {*middle + 1, i})});
    if (edits.size() > kMostEdits)
      return fail(ErrorCode::input, fmt::format("there are more than {} edits", kMostEdits));
  }
  return edits;
}

Result<std::string> apply_edits(std::string_view source, const std::vector<Edit>& edits) {
  if (source.size() > kMostSource)
    return fail(ErrorCode::input, "the kernel is too long to be edited");
  if (edits.empty() || edits.size() > kMostEdits)
    return fail(ErrorCode::input, fmt::format("there must be 1 to {} edits", kMostEdits));
  Applier applier(source);
  for (const Edit& edit : edits)
    KERNEVO_CHECK(applier.add(edit));
  std::string result = applier.result();
  if (result == source)
    return fail(ErrorCode::input, "the edits change nothing");
  return result;
}

} // namespace kernevo::propose
