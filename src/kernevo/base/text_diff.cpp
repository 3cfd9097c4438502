#include "kernevo/base/text_diff.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <vector>

namespace kernevo {
namespace {

constexpr std::size_t kContext = 3;
// The search remembers a row for every change: memory grows with the square.
constexpr std::ptrdiff_t kMaxChanges = 4000;
constexpr std::string_view kNoNewline = "\\ No newline at end of file\n";

using Lines = std::vector<std::string_view>;

// Every line with its newline; the last one may lack it.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

struct Change {
  char kind = ' '; // ' ' kept, '-' removed, '+' added
  std::string_view line;
};

// The furthest x on every diagonal k = x - y, change after change; then the way back.
class Script {
public:
  Script(const Lines& a, const Lines& b) : a_(a), b_(b) {}

  std::vector<Change> run() {
    const auto n = static_cast<std::ptrdiff_t>(a_.size());
    const auto m = static_cast<std::ptrdiff_t>(b_.size());
    const std::ptrdiff_t most = std::min(n + m, kMaxChanges);
    std::vector<std::ptrdiff_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](std::ptrdiff_t k) -> std::ptrdiff_t& {
      return furthest[static_cast<std::size_t>(k + most + 1)];
    };
    for (std::ptrdiff_t d = 0; d <= most; ++d) {
      // Only diagonals -d .. d are read again.
      rows_.emplace_back(&at(-d - 1), &at(d + 1) + 1);
      for (std::ptrdiff_t k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        std::ptrdiff_t x = down ? at(k + 1) : at(k - 1) + 1;
        while (x < n && x - k < m && same(x, x - k))
          ++x;
        at(k) = x;
        if (x >= n && x - k >= m)
          return way_back(d, n, m);
      }
    }
    return replaced();
  }

private:
  bool same(std::ptrdiff_t x, std::ptrdiff_t y) const {
    return a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(y)];
  }

  std::vector<Change> way_back(std::ptrdiff_t d, std::ptrdiff_t x, std::ptrdiff_t y) const {
    std::vector<Change> changes;
    const auto keep_until = [&](std::ptrdiff_t to_x, std::ptrdiff_t to_y) {
      while (x > to_x && y > to_y) {
        --x;
        --y;
        changes.push_back({' ', a_[static_cast<std::size_t>(x)]});
      }
    };
    for (; d > 0; --d) {
      const std::vector<std::ptrdiff_t>& row = rows_[static_cast<std::size_t>(d)];
      const auto at = [&](std::ptrdiff_t k) { return row[static_cast<std::size_t>(k + d + 1)]; };
      const std::ptrdiff_t k = x - y;
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      const std::ptrdiff_t from = down ? at(k + 1) : at(k - 1);
      const std::ptrdiff_t from_y = from - (down ? k + 1 : k - 1);
      keep_until(down ? from : from + 1, down ? from_y + 1 : from_y);
      if (down)
        changes.push_back({'+', b_[static_cast<std::size_t>(--y)]});
      else
        changes.push_back({'-', a_[static_cast<std::size_t>(--x)]});
    }
    keep_until(0, 0);
    std::reverse(changes.begin(), changes.end());
    return changes;
  }

  std::vector<Change> replaced() const {
    std::vector<Change> changes;
    for (const std::string_view line : a_)
      changes.push_back({'-', line});
    for (const std::string_view line : b_)
      changes.push_back({'+', line});
    return changes;
  }

  const Lines& a_;
  const Lines& b_;
  std::vector<std::vector<std::ptrdiff_t>> rows_; // before change d, diagonals -d-1 .. d+1
};

// "3,4": from line 3, four lines. An empty range is named by the line before it.
std::string range_text(std::size_t first, std::size_t count) {
  if (count == 1)
    return fmt::format("{}", first);
  return fmt::format("{},{}", count == 0 ? first - 1 : first, count);
}

} // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name) {
  if (before == after)
    return "";
  const Lines a = lines_of(before);
  const Lines b = lines_of(after);
  const std::vector<Change> changes = Script(a, b).run();
  std::string text = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  std::size_t line_a = 1;
  std::size_t line_b = 1;
  for (std::size_t i = 0; i < changes.size();) {
    // The next hunk: changes that are no more than two contexts apart.
    std::size_t first = i;
    while (first < changes.size() && changes[first].kind == ' ')
      ++first;
    if (first == changes.size())
      break;
    std::size_t last = first; // behind the last change
    for (std::size_t k = first; k < changes.size() && k - last <= 2 * kContext; ++k)
      if (changes[k].kind != ' ')
        last = k + 1;
    const std::size_t begin = std::max(i, first - std::min(first, kContext));
    const std::size_t end = std::min(changes.size(), last + kContext);
    line_a += begin - i;
    line_b += begin - i;
    std::size_t count_a = 0;
    std::size_t count_b = 0;
    std::string body;
    for (std::size_t k = begin; k < end; ++k) {
      const Change& change = changes[k];
      count_a += change.kind != '+' ? 1 : 0;
      count_b += change.kind != '-' ? 1 : 0;
      body += change.kind;
      body += change.line;
      if (!change.line.ends_with('\n'))
        body += fmt::format("\n{}", kNoNewline);
    }
    text += fmt::format("@@ -{} +{} @@\n{}", range_text(line_a, count_a),
                        range_text(line_b, count_b), body);
    line_a += count_a;
    line_b += count_b;
    i = end;
  }
  return text;
}

} // namespace kernevo
