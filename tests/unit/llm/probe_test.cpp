#include "fixture.h"

#include <fmt/format.h>

namespace kernevo::llm {
namespace {

CallResult probe_of(const ScriptedServer::Handler& handler, const std::string& model = "m") {
  ScriptedServer server(handler);
  TestClient client(server.url());
  client.model.name = model;
  return client.make()->probe({});
}

TEST(Probe, AModelThatIsListedIsFine) {
  const CallResult result = probe_of([](const ServedRequest& request, std::size_t) {
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.path, "/v1/models");
    return plain_answer(200, R"({"data":[{"id":"a"},{"id":"m"}]})");
  });
  EXPECT_TRUE(result.reply);
  EXPECT_EQ(result.usage.total(), 0U);
}

TEST(Probe, AModelThatIsNotListedGetsASuggestion) {
  const CallResult result = probe_of(
      [](const ServedRequest&, std::size_t) {
        return plain_answer(200, R"({"data":[{"id":"deepseek-chat"},{"id":"other"}]})");
      },
      "deepseek-chta");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::wrong_model);
  EXPECT_NE(result.failure->message.find("did you mean 'deepseek-chat'"), std::string::npos)
      << result.failure->message;
}

TEST(Probe, AWrongKeyIsSaid) {
  const CallResult result = probe_of(
      [](const ServedRequest&, std::size_t) { return plain_answer(401, error_reply("bad key")); });
  EXPECT_EQ(result.failure.value().kind, FailureKind::wrong_key);
}

TEST(Probe, WithoutAListItAsksForOneToken) {
  for (const Script& list :
       {plain_answer(404, "nothing here"), plain_answer(405, ""), plain_answer(501, ""),
        plain_answer(200, R"({"data":[]})"), plain_answer(200, "<html>")}) {
    const CallResult result = probe_of([&](const ServedRequest& request, std::size_t) {
      if (request.method == "GET")
        return list;
      EXPECT_NE(request.body.find("\"max_tokens\":1,"), std::string::npos);
      return chunked_answer({finish_chunk("length"), usage_chunk(3, 1), kDone});
    });
    EXPECT_TRUE(result.reply) << result.failure->message;
    EXPECT_EQ(result.usage.total(), 4U);
  }
}

TEST(Probe, ACompletionTellsAWrongModelToo) {
  const CallResult result = probe_of([&](const ServedRequest&, std::size_t) {
    return plain_answer(404, error_reply("model not found"));
  });
  EXPECT_EQ(result.failure.value().kind, FailureKind::wrong_model);
}

TEST(Probe, DoesNotWaitForWhatIsNotThere) {
  int port = 0;
  {
    ScriptedServer gone([](const ServedRequest&, std::size_t) { return good_stream(); });
    port = gone.port();
  }
  TestClient client(fmt::format("http://127.0.0.1:{}/v1", port));
  client.settings.patience_seconds = 1000;
  const CallResult result = client.make()->probe({});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::unreachable);
  EXPECT_EQ(result.tries, 2U);
  EXPECT_NE(result.failure->message.find(client.model.base_url), std::string::npos);
  EXPECT_NE(result.failure->fix.find(client.model.base_url), std::string::npos);
}

TEST(Probe, AURLWithoutASchemeIsRefused) {
  TestClient client("openrouter.ai/api/v1");
  EXPECT_FALSE(ChatClient::create(client.model, client.settings, client.parts));
}

} // namespace
} // namespace kernevo::llm
