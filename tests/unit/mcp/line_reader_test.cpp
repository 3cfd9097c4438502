#include "kernevo/mcp/line_reader.h"

#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <thread>
#include <unistd.h>

namespace kernevo::mcp {
namespace {

const auto kNever = [] { return false; };

// Writes from a thread: a pipe holds little.
std::vector<Line> lines_of(const std::string& text, std::size_t limit, std::size_t piece) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  std::thread writer([&] {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = ::write(ends[1], text.data() + at, std::min(piece, text.size() - at));
      if (count <= 0)
        break;
      at += static_cast<std::size_t>(count);
    }
    ::close(ends[1]);
  });
  std::vector<Line> lines;
  LineReader reader(ends[0], limit);
  while (auto line = reader.next(kNever))
    lines.push_back(*line);
  writer.join();
  ::close(ends[0]);
  return lines;
}

TEST(LineReader, gives_lines_without_their_ends) {
  const auto lines = lines_of("one\r\n\ntwo\nlast", 100, 3);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].text, "one");
  EXPECT_EQ(lines[1].text, "");
  EXPECT_EQ(lines[2].text, "two");
  EXPECT_EQ(lines[3].text, "last");
}

TEST(LineReader, skips_a_line_that_is_too_long_and_goes_on) {
  const std::string text = "a\n" + std::string(50U << 20U, 'x') + "\nb\n";
  const auto lines = lines_of(text, 1U << 20U, 1U << 20U);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_FALSE(lines[0].too_long);
  EXPECT_TRUE(lines[1].too_long);
  EXPECT_TRUE(lines[1].text.empty());
  EXPECT_EQ(lines[2].text, "b");
}

TEST(LineReader, stops_when_asked) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  LineReader reader(ends[0], 100);
  int asked = 0;
  EXPECT_FALSE(reader.next([&] { return ++asked > 2; }).has_value());
  ::close(ends[0]);
  ::close(ends[1]);
}

RC_GTEST_PROP(LineReader, reads_back_what_was_written_in_any_pieces, ()) {
  const auto texts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  const auto piece = *rc::gen::inRange<std::size_t>(1, 20);
  constexpr std::size_t limit = 10;
  std::string all;
  for (const std::string& text : texts)
    all += text + "\n";
  const auto lines = lines_of(all, limit, piece);
  RC_ASSERT(lines.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    RC_ASSERT(lines[i].too_long == (texts[i].size() > limit));
    if (!lines[i].too_long)
      RC_ASSERT(lines[i].text == texts[i]);
  }
}

} // namespace
} // namespace kernevo::mcp
