#include "kernevo/llm/client.h"
#include "kernevo/llm/model_list.h"
#include "kernevo/llm/redactor.h"
#include "kernevo/llm/retry.h"
#include "kernevo/llm/thinking.h"

#include <gtest/gtest.h>

namespace kernevo::llm {
namespace {

TEST(Thinking, IsKeptApart) {
  const Thought thought = split_thinking("<think>first a,\nthen b</think>\n\nThe answer");
  EXPECT_EQ(thought.text, "The answer");
  EXPECT_EQ(thought.reasoning, "first a,\nthen b");
}

TEST(Thinking, UnclosedIsReasoningToTheEnd) {
  const Thought thought = split_thinking(" <think>never done");
  EXPECT_EQ(thought.text, " ");
  EXPECT_EQ(thought.reasoning, "never done");
}

TEST(Thinking, MayHaveBegunInThePrompt) {
  const Thought thought = split_thinking("so it is\n</think>\nanswer");
  EXPECT_EQ(thought.text, "answer");
  EXPECT_EQ(thought.reasoning, "so it is\n");
}

TEST(Thinking, TagsInCodeAreCode) {
  const std::string text = "See:\n```cpp\n<think>\n// </think>\n```\n";
  EXPECT_EQ(split_thinking(text).text, text);
}

TEST(Redactor, FindsTheKeyHoweverItIsSpelled) {
  const Redactor redactor("ab\"c/1234");
  EXPECT_EQ(redactor.without_key("x ab\"c/1234 y"), "x [redacted] y");
  EXPECT_EQ(redactor.without_key("x ab\\\"c\\/1234 y"), "x [redacted] y");
  EXPECT_EQ(redactor.without_key("x \\u0061b\\u0022c/1234 y"), "x [redacted] y");
  EXPECT_EQ(redactor.without_key("x ab%22c%2F1234 y"), "x [redacted] y");
  EXPECT_EQ(redactor.without_key("x ab\"c/123 y"), "x ab\"c/123 y");
}

TEST(Redactor, HidesWhatStandsBehindMarks) {
  const Redactor redactor;
  EXPECT_EQ(redactor.redact("Authorization: Bearer sk-1.2_3, api_key=xyz&a"),
            "Authorization: Bearer [redacted], api_key=[redacted]&a");
}

TEST(Redactor, LeavesWordsThatAreNoSecret) {
  EXPECT_EQ(Redactor("none").without_key("none of it"), "none of it");
}

TEST(Redactor, MakesOneLineOfBoundedLength) {
  EXPECT_EQ(Redactor().one_line("  a\n\tb\r\n"), "a b");
  EXPECT_LT(Redactor().one_line(std::string(10000, 'x')).size(), 500U);
}

TEST(Retry, ReadsBothFormsOfRetryAfter) {
  HttpResponse response;
  response.headers["retry-after"] = "2.5";
  EXPECT_EQ(wanted_wait(response, {}, 0), 2.5);
  const auto date = parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT");
  ASSERT_TRUE(date);
  EXPECT_EQ(*date, 1792567680);
  response.headers["retry-after"] = "Wed, 21 Oct 2026 07:28:00 GMT";
  EXPECT_EQ(wanted_wait(response, {}, *date - 7), 7);
  EXPECT_EQ(wanted_wait(response, {}, *date + 7), 0);
  response.headers["retry-after-ms"] = "1500";
  EXPECT_EQ(wanted_wait(response, {}, 0), 1.5);
  response.headers = {{"retry-after", "soon"}};
  EXPECT_FALSE(wanted_wait(response, {}, 0));
}

TEST(Retry, BacksOffTheSameWayForTheSameCall) {
  double total = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const double full = std::min(0.5 * (1U << i), 8.0);
    EXPECT_EQ(backoff_seconds("a", i), backoff_seconds("a", i));
    EXPECT_LE(backoff_seconds("a", i), full);
    EXPECT_GE(backoff_seconds("a", i), 0.75 * full);
    total += std::abs(backoff_seconds("a", i) - backoff_seconds("b", i));
  }
  EXPECT_GT(total, 0);
}

TEST(Tokens, AreRatherTooManyThanTooFew) {
  EXPECT_EQ(estimate_tokens(""), 0U);
  EXPECT_GE(estimate_tokens("a"), 1U);
  EXPECT_GE(estimate_tokens("for (int i = 0; i < n; ++i)"), 9U);
  EXPECT_GE(estimate_tokens("\xE6\xBC\xA2\xE5\xAD\x97"), 2U);
}

TEST(ModelList, ReadsTheShapesItComesIn) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parse_model_list(R"({"data":[{"id":"a"},{"id":"b"}]})"), (Names{"a", "b"}));
  EXPECT_EQ(parse_model_list(R"({"models":[{"name":"a"}]})"), (Names{"a"}));
  EXPECT_EQ(parse_model_list(R"(["a"])"), (Names{"a"}));
  EXPECT_FALSE(parse_model_list(R"({"data":[]})"));
  EXPECT_FALSE(parse_model_list("<html>"));
  EXPECT_TRUE(lists_model({"models/gemini"}, "gemini"));
  EXPECT_TRUE(lists_model({"llama3:latest"}, "llama3"));
  EXPECT_TRUE(lists_model({"v/x"}, "v/x:nitro"));
  EXPECT_FALSE(lists_model({"v/xy"}, "v/x"));
}

} // namespace
} // namespace kernevo::llm
