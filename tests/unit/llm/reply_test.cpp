#include "kernevo/llm/reply_reader.h"

#include "fixture.h"

namespace kernevo::llm {
namespace {

ScriptedServer::Handler always(const Script& script) {
  return [=](const ServedRequest&, std::size_t) { return script; };
}

CallResult answer_to(const Script& script) {
  ScriptedServer server(always(script));
  TestClient client(server.url());
  client.parts.max_tries = 2;
  return client.ask();
}

std::string chunk(const std::string& delta) {
  return "data: {\"choices\":[{\"delta\":" + delta + "}]}\n\n";
}

TEST(Reply, IsPutTogetherFromChunks) {
  const CallResult result =
      answer_to(chunked_answer({": OPENROUTER PROCESSING\n\n", text_chunk("hel"), text_chunk("lo"),
                                ": keep-alive\n\n", finish_chunk(), usage_chunk(10, 5), kDone}));
  ASSERT_TRUE(result.reply);
  EXPECT_EQ(result.reply->text, "hello");
  EXPECT_EQ(result.reply->finish, "stop");
  EXPECT_EQ(result.reply->model, "m");
  EXPECT_EQ(result.usage, (TokenUsage{10, 0, 5, 0, false}));
  EXPECT_EQ(result.tries, 1U);
}

TEST(Reply, EndsWithDoneEvenIfTheConnectionDoesNot) {
  Script script = chunked_answer({text_chunk("hello"), kDone}, 0, false);
  script.pieces.push_back({"never", 60});
  EXPECT_EQ(answer_to(script).reply.value().text, "hello");
}

TEST(Reply, NeedsNoDoneAfterAFinish) {
  EXPECT_TRUE(answer_to(open_ended_answer({text_chunk("a"), finish_chunk()})).reply);
}

TEST(Reply, MayBeWholeThoughAStreamWasAskedFor) {
  const CallResult result = answer_to(plain_answer(
      200,
      "\n\n\n" + whole_reply("hello", R"(,"usage":{"prompt_tokens":3,"completion_tokens":2})")));
  ASSERT_TRUE(result.reply);
  EXPECT_EQ(result.reply->text, "hello");
  EXPECT_EQ(result.usage, (TokenUsage{3, 0, 2, 0, false}));
}

TEST(Reply, ContentMayBeAListOfParts) {
  const CallResult result = answer_to(plain_answer(
      200,
      R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]})"));
  EXPECT_EQ(result.reply.value().text, "ab");
}

TEST(Reply, ReasoningIsKeptApartInAllItsShapes) {
  for (const std::string& thought :
       {chunk(R"({"reasoning_content":"hmm"})"), chunk(R"({"reasoning":"hmm"})"),
        chunk(R"({"reasoning_details":[{"type":"reasoning.text","text":"hmm"}]})"),
        chunk(R"({"reasoning":"hmm","reasoning_details":[{"text":"hmm"}]})"),
        text_chunk("<th") + text_chunk("ink>hmm</th") + text_chunk("ink>")}) {
    const CallResult result =
        answer_to(chunked_answer({thought, text_chunk("code"), finish_chunk(), kDone}));
    ASSERT_TRUE(result.reply) << thought;
    EXPECT_EQ(result.reply->text, "code");
    EXPECT_EQ(result.reply->reasoning, "hmm");
  }
}

TEST(Reply, ErrorsInsideASuccessAreErrors) {
  const std::string error = error_reply("out of luck", R"(,"code":502)");
  for (const Script& script :
       {plain_answer(200, error), chunked_answer({"data: " + error + "\n\n"}),
        chunked_answer({text_chunk("half"), "data: " + error + "\n\n", kDone}),
        chunked_answer(
            {text_chunk("half"), "event: error\ndata: {\"message\":\"out of luck\"}\n\n"}),
        chunked_answer({text_chunk("half"), error + "\n"}),
        chunked_answer({"data: {\"choices\":[{\"delta\":{},\"error\":{\"message\":\"out of luck\","
                        "\"code\":502},\"finish_reason\":\"error\"}]}\n\n"})}) {
    const CallResult result = answer_to(script);
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->kind, FailureKind::server_error);
    EXPECT_NE(result.failure->message.find("out of luck"), std::string::npos);
    EXPECT_EQ(result.tries, 2U);
  }
}

TEST(Reply, ALimitInsideASuccessIsALimit) {
  ScriptedServer server([](const ServedRequest&, std::size_t number) {
    return number == 0 ? plain_answer(200, error_reply("slow down", R"(,"code":429)"))
                       : good_stream();
  });
  EXPECT_TRUE(TestClient(server.url()).ask().reply);
}

TEST(Reply, WhatIsNoReplyIsMalformed) {
  for (const std::string body : {"<html>hi</html>", "", "[1,2", "{}", "{\"choices\":[]}", "null"}) {
    const CallResult result = answer_to(plain_answer(200, body));
    ASSERT_TRUE(result.failure) << body;
    EXPECT_EQ(result.failure->kind, FailureKind::malformed) << body;
    EXPECT_EQ(result.tries, 2U);
  }
  const CallResult result =
      answer_to(chunked_answer({text_chunk("a"), "data: {nonsense\n\n", kDone}));
  EXPECT_EQ(result.failure.value().kind, FailureKind::malformed);
  EXPECT_GT(result.usage.total(), 0U);
}

TEST(Reply, AnEmptyAnswerIsNoAnswer) {
  const CallResult result = answer_to(chunked_answer({finish_chunk(), kDone}));
  EXPECT_EQ(result.failure.value().kind, FailureKind::empty_answer);
}

TEST(Reply, AllTokensInReasoningAreWorthOneLargerTry) {
  ScriptedServer server([](const ServedRequest& request, std::size_t) {
    if (request.body.find("\"max_tokens\":200") != std::string::npos)
      return good_stream();
    return chunked_answer(
        {chunk(R"({"reasoning":"hmm"})"), finish_chunk("length"), usage_chunk(10, 100), kDone});
  });
  const TestClient client(server.url());
  const CallResult result = client.ask();
  ASSERT_TRUE(result.reply);
  EXPECT_EQ(result.tries, 2U);
  EXPECT_EQ(result.usage.completion, 105U);
  ChatRequest bounded = request_of();
  bounded.most_tokens = 100;
  EXPECT_EQ(client.ask(bounded).failure.value().kind, FailureKind::out_of_length);
  EXPECT_EQ(server.count(), 3U);
  ChatRequest poor = request_of();
  poor.allowance = 150;
  EXPECT_EQ(client.ask(poor).failure.value().kind, FailureKind::out_of_length);
  EXPECT_EQ(server.count(), 4U);
}

TEST(Reply, IsBoundedInSize) {
  ReplyReader reader(1000);
  const std::string piece = text_chunk(std::string(100, 'x'));
  int fed = 0;
  while (reader.feed(piece) && fed < 100)
    ++fed;
  EXPECT_LT(fed, 10);
  EXPECT_FALSE(reader.read().malformed.empty());
  ReplyReader line(1000); // a line that never ends
  for (fed = 0; line.feed(fed == 0 ? "data: " : "xxxxxxxxxxxxxxxxxxxx") && fed < 100; ++fed) {
  }
  EXPECT_LT(fed, 60);
}

TEST(Reply, SurvivesDeepNesting) {
  ReplyReader reader;
  reader.feed("{\"choices\":" + std::string(1U << 20U, '[') + "}");
  reader.finish();
  EXPECT_FALSE(reader.read().malformed.empty());
}

} // namespace
} // namespace kernevo::llm
