#include "fixture.h"

namespace kernevo::llm {
namespace {

CallResult spent_on(const std::string& usage, std::optional<ModelPrice> price = {},
                    const std::string& answered = "m") {
  ScriptedServer server([&](const ServedRequest&, std::size_t) {
    return plain_answer(
        200, R"({"model":")" + answered +
                 R"(","choices":[{"message":{"content":"abc"},"finish_reason":"stop"}])" +
                 (usage.empty() ? "" : R"(,"usage":)" + usage) + "}");
  });
  TestClient client(server.url());
  client.model.price = price;
  CallResult result = client.ask();
  EXPECT_TRUE(result.reply);
  return result;
}

TEST(Accounting, ReadsTheFormsOfUsage) {
  EXPECT_EQ(spent_on(R"({"prompt_tokens":10,"completion_tokens":8,
                         "prompt_tokens_details":{"cached_tokens":4},
                         "completion_tokens_details":{"reasoning_tokens":5}})")
                .usage,
            (TokenUsage{10, 4, 8, 5, false}));
  EXPECT_EQ(
      spent_on(R"({"prompt_tokens":10,"completion_tokens":8,"prompt_cache_hit_tokens":6})").usage,
      (TokenUsage{10, 6, 8, 0, false}));
  // Reasoning counted beside the completion: only the total tells.
  EXPECT_EQ(spent_on(R"({"prompt_tokens":10,"completion_tokens":8,"total_tokens":48,
                         "completion_tokens_details":{"reasoning_tokens":30}})")
                .usage,
            (TokenUsage{10, 0, 38, 30, false}));
}

TEST(Accounting, EstimatesWhatIsNotSaid) {
  for (const char* usage : {"", "null", R"({"prompt_tokens":0,"completion_tokens":0})",
                            R"({"prompt_tokens":-5,"completion_tokens":"x"})"}) {
    const TokenUsage spent = spent_on(usage).usage;
    EXPECT_TRUE(spent.estimated) << usage;
    EXPECT_EQ(spent.prompt, estimate_tokens("You write kernels.") + estimate_tokens("Write one."));
    EXPECT_EQ(spent.completion, estimate_tokens("abc"));
  }
}

TEST(Accounting, TheEndpointsCostComesFirst) {
  const ModelPrice price{1, 2, std::nullopt};
  EXPECT_EQ(spent_on(R"({"prompt_tokens":10,"completion_tokens":8,"cost":0.25})", price).dollars,
            0.25);
}

TEST(Accounting, ThenTheConfiguredPrice) {
  const char* usage = R"({"prompt_tokens":1000000,"completion_tokens":500000,
                          "prompt_tokens_details":{"cached_tokens":500000}})";
  EXPECT_DOUBLE_EQ(spent_on(usage, ModelPrice{2, 8, 0.5}).dollars.value(), 1 + 0.25 + 4);
  EXPECT_DOUBLE_EQ(spent_on(usage, ModelPrice{2, 8, std::nullopt}).dollars.value(), 2 + 4);
  EXPECT_DOUBLE_EQ(spent_on(usage, ModelPrice{2, 8, 0.5}, "vendor/m-2026-01").dollars.value(),
                   5.25);
}

TEST(Accounting, ElseItIsUnknown) {
  const char* usage = R"({"prompt_tokens":10,"completion_tokens":8})";
  EXPECT_FALSE(spent_on(usage).dollars);
  EXPECT_FALSE(spent_on(usage, ModelPrice{1, 1, std::nullopt}, "fallback").dollars);
}

TEST(Accounting, AddsUpTheTries) {
  ScriptedServer server([&](const ServedRequest&, std::size_t number) {
    if (number == 0)
      return plain_answer(503, error_reply("busy"));
    if (number == 1)
      return chunked_answer({text_chunk("half"), usage_chunk(100, 50, R"(,"cost":0.5)"),
                             "data: " + error_reply("broke", R"(,"code":502)") + "\n\n"});
    return chunked_answer(
        {text_chunk("whole"), finish_chunk(), usage_chunk(100, 60, R"(,"cost":0.75)"), kDone});
  });
  const CallResult result = TestClient(server.url()).ask();
  ASSERT_TRUE(result.reply);
  EXPECT_EQ(result.tries, 3U);
  EXPECT_EQ(result.usage, (TokenUsage{200, 0, 110, 0, false}));
  EXPECT_EQ(result.dollars, 1.25);
}

TEST(Accounting, OneUnknownTryMakesTheSumUnknown) {
  ScriptedServer server([&](const ServedRequest&, std::size_t number) {
    if (number == 0)
      return chunked_answer({text_chunk("half")}, 0, false);
    return chunked_answer({text_chunk("whole"), usage_chunk(1, 1, R"(,"cost":0.75)"), kDone});
  });
  const CallResult result = TestClient(server.url()).ask();
  ASSERT_TRUE(result.reply);
  EXPECT_TRUE(result.usage.estimated);
  EXPECT_FALSE(result.dollars);
}

TEST(Accounting, NoFurtherTryBeyondTheAllowance) {
  ScriptedServer server([&](const ServedRequest&, std::size_t number) {
    return number == 0 ? chunked_answer({text_chunk("half")}, 0, false) : good_stream();
  });
  const TestClient client(server.url());
  ChatRequest request = request_of();
  request.allowance = 112;
  const CallResult result = client.ask(request);
  EXPECT_EQ(result.failure.value().kind, FailureKind::cut);
  EXPECT_EQ(server.count(), 1U);
}

} // namespace
} // namespace kernevo::llm
