// What models and programs write comes in here: any bytes, of any length.
#include "conformance.h"

namespace kernevo::store {

using testing::IsEmpty;

namespace {

std::string every_byte() {
  std::string bytes;
  for (int i = 0; i < 256; ++i)
    bytes += static_cast<char>(i);
  return bytes;
}

// Each is another text, however alike they look.
const std::vector<std::string>& strange_texts() {
  static const std::vector<std::string> texts = {
      "",
      " ",
      "  ",
      "a",
      "A",
      "a ",
      std::string("a\0", 2),
      std::string("a\0b", 3),
      std::string("\0", 1),
      std::string("\0\0", 2),
      "a\nb",
      "a\r\nb",
      "\xff\xfe",
      "\xc3",             // the beginning of a letter
      "\xc3\xa9",         // é as one letter
      "e\xcc\x81",        // and as two
      "\xed\xa0\x80",     // half of a pair of UTF-16
      "\xf4\x90\x80\x80", // beyond the last letter
      "'; DROP TABLE events; --",
      "\"",
      "%",
      "_",
      "*",
      "?",
      "[a-z]",
      "$1",
      "{}",
      "NULL",
      "0",
      "00",
      "1e0",
      "../../etc/passwd",
      "*3\r\n$3\r\nDEL\r\n",
      "\x1b[2J",
      every_byte(),
      std::string(4'000'000, 'k'),
      std::string(4'000'000, 'k') + "k",
  };
  return texts;
}

} // namespace

TEST_P(Conformance, AnyBytesAreAKeyAndABody) {
  auto journal = create();
  const auto& texts = strange_texts();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& body = texts[texts.size() - 1 - i];
    ASSERT_TRUE(journal->remember(texts[i], body)) << i;
  }
  ASSERT_TRUE(journal->remember("no address", std::string_view()));
  journal.reset();
  journal = reader();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto body = journal->recall(texts[i]);
    ASSERT_TRUE(body && *body) << i;
    EXPECT_TRUE(**body == texts[texts.size() - 1 - i]) << i;
  }
  const auto empty = journal->recall("no address");
  ASSERT_TRUE(empty && *empty);
  EXPECT_EQ(**empty, "");
  EXPECT_EQ(journal->remembered()->size(), texts.size() + 1) << "no two are one";
}

TEST_P(Conformance, AnyBytesAreABlob) {
  auto journal = create();
  const auto& texts = strange_texts();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Candidate c = candidate(i);
    c.source = sha256_hex(texts[i]);
    ASSERT_TRUE(journal->append(c, {texts[i]})) << i;
  }
  journal.reset();
  journal = reader();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto blob = journal->blob(sha256_hex(texts[i]));
    ASSERT_TRUE(blob) << i;
    EXPECT_TRUE(*blob == texts[i]) << i;
  }
  EXPECT_THAT(journal->audit_blobs()->missing, IsEmpty());
}

TEST_P(Conformance, AnyBytesInAnEventLeaveTheRunReadable) {
  auto journal = create();
  const auto& texts = strange_texts();
  for (Step step = 0; step < texts.size(); ++step) {
    Directive d = directive(step);
    d.direction = texts[step];
    Candidate c = candidate(step);
    c.title = texts[step];
    Evaluation e = evaluation(step);
    e.summary = e.identity = texts[step];
    ASSERT_TRUE(journal->append(d) && journal->append(c) && journal->append(e)) << step;
  }
  journal.reset();
  journal = reader();
  ASSERT_EQ(events_of(*journal).size(), 3 * texts.size());
  for (Step step = 0; step < texts.size(); ++step) {
    EXPECT_EQ(*journal->find_identity(texts[step], texts.size()), step);
    const auto row = journal->step(step);
    ASSERT_TRUE(row && *row) << step;
    EXPECT_TRUE((*row)->title == texts[step] && (*row)->direction == texts[step]) << step;
    const auto back = journal->candidate(step);
    ASSERT_TRUE(back && *back) << step;
    // The text of an event is JSON: what is no UTF-8 is replaced there, the rest is as it was.
    EXPECT_TRUE((*back)->title == texts[step] ||
                (*back)->title.find("\xef\xbf\xbd") != std::string::npos)
        << step;
  }
}

TEST_P(Conformance, AnyBytesAreASnapshot) {
  auto journal = create();
  write_steps(*journal, 0, 1);
  for (const std::string& text : strange_texts()) {
    ASSERT_TRUE(journal->put_snapshot({1, text}));
    const auto snapshot = journal->snapshot();
    ASSERT_TRUE(snapshot && *snapshot);
    EXPECT_TRUE((*snapshot)->body == text);
  }
}

} // namespace kernevo::store
