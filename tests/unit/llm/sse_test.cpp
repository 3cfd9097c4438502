#include "kernevo/llm/sse.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kernevo::llm {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events parse(const std::vector<std::string>& pieces) {
  Events events;
  SseParser parser([&](const SseEvent& event) { events.emplace_back(event.type, event.data); });
  for (const std::string& piece : pieces)
    parser.feed(piece);
  parser.finish();
  return events;
}

TEST(Sse, ReadsEveryKindOfLineEnd) {
  const Events expected = {{"", "a"}, {"", "b"}};
  EXPECT_EQ(parse({"data: a\n\ndata: b\n\n"}), expected);
  EXPECT_EQ(parse({"data: a\r\n\r\ndata: b\r\n\r\n"}), expected);
  EXPECT_EQ(parse({"data: a\r\rdata: b\r\r"}), expected);
  EXPECT_EQ(parse({"data: a\r", "\n\r", "\ndata: b\r\n\r\n"}), expected);
}

TEST(Sse, SkipsCommentsAndOtherFields) {
  EXPECT_EQ(parse({": keep-alive\n\n: OPENROUTER PROCESSING\n\nid: 7\nretry: 10\ndata:x\n\n"}),
            (Events{{"", "x"}}));
}

TEST(Sse, JoinsLinesOfDataAndKeepsTheType) {
  EXPECT_EQ(parse({"event: error\ndata: a\ndata:\ndata:  b\n\ndata: c\n\n"}),
            (Events{{"error", "a\n\n b"}, {"", "c"}}));
}

TEST(Sse, HandsOutTheLastEventWithoutItsBlankLine) {
  EXPECT_EQ(parse({"data: a\n\ndata: b"}), (Events{{"", "a"}, {"", "b"}}));
}

TEST(Sse, TakesAnObjectWithoutAFieldAsData) {
  EXPECT_EQ(parse({"data: a\n\n{\"error\":1}\n"}), (Events{{"", "a"}, {"", "{\"error\":1}"}}));
}

// Whatever the text is, it means the same in one piece and in many.
TEST(Sse, DoesNotCareHowTheTextIsSplit) {
  EXPECT_TRUE(rc::check([] {
    const auto lines = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("data: {\"a\":1}", "data: x", "data:", "event: error",
                                      ": note", "", "", "id: 1", "{\"b\":2}", "data: \xC3\xA9"));
    std::string text;
    for (const std::string& line : lines)
      text += line + *rc::gen::element<std::string>("\n", "\r\n", "\r");
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = *rc::gen::inRange<std::size_t>(1, 9);
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    RC_ASSERT(parse(pieces) == parse({text}));
  }));
}

} // namespace
} // namespace kernevo::llm
