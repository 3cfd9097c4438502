#include "fixture.h"

#include <fmt/format.h>
#include <future>

namespace kernevo::llm {
namespace {

TEST(Patience, AnOutagePausesTheCallsInsteadOfFailingThem) {
  std::atomic<bool> up = false;
  ScriptedServer server([&](const ServedRequest&, std::size_t) {
    return up ? good_stream() : plain_answer(503, error_reply("down"));
  });
  TestClient settings(server.url());
  settings.settings.patience_seconds = 30;
  settings.parts.wait_scale = 0.02;
  CircuitPolicy policy;
  policy.patience_seconds = 30;
  policy.pause_scale = 0.02;
  settings.parts.circuit = std::make_shared<Circuit>(policy);
  const auto client = settings.make();
  std::vector<std::future<CallResult>> calls;
  for (int i = 0; i < 4; ++i)
    calls.push_back(std::async(std::launch::async, [&, i] {
      return client->complete(request_of(fmt::format("{}.code.0", i)), {});
    }));
  while (server.count() < 9 || !settings.parts.circuit->open())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  up = true;
  for (auto& call : calls)
    EXPECT_TRUE(call.get().reply);
  EXPECT_FALSE(settings.parts.circuit->open());
}

TEST(Patience, EndsSomeTime) {
  ScriptedServer server(
      [&](const ServedRequest&, std::size_t) { return plain_answer(500, error_reply("down")); });
  TestClient client(server.url());
  client.settings.patience_seconds = 0.3;
  client.parts.wait_scale = 0.02;
  const CallResult result = client.ask();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::unreachable);
  EXPECT_TRUE(stops_the_run(result.failure->kind));
  EXPECT_GT(result.tries, 3U);
}

TEST(Patience, NobodyListening) {
  int port = 0;
  {
    ScriptedServer gone([](const ServedRequest&, std::size_t) { return good_stream(); });
    port = gone.port();
  }
  TestClient client(fmt::format("http://127.0.0.1:{}/v1", port));
  client.settings.patience_seconds = 0.2;
  client.parts.wait_scale = 0.02;
  const CallResult result = client.ask();
  EXPECT_EQ(result.failure.value().kind, FailureKind::unreachable);
  EXPECT_NE(result.failure->message.find(client.model.base_url), std::string::npos);
  EXPECT_FALSE(result.failure->fix.empty());
}

TEST(Patience, ALongWaitIsAnOutage) {
  ScriptedServer server([&](const ServedRequest&, std::size_t) {
    return plain_answer(429, error_reply("tomorrow"), {"Retry-After: 3600"});
  });
  TestClient client(server.url());
  client.settings.patience_seconds = 0.3;
  client.parts.wait_scale = 0.05;
  const CallResult result = client.ask();
  EXPECT_EQ(result.failure.value().kind, FailureKind::rate_limited);
}

TEST(Patience, LimitsAreWaitedForAndNotForever) {
  ScriptedServer server(
      [&](const ServedRequest&, std::size_t) { return plain_answer(429, error_reply("slow")); });
  TestClient client(server.url());
  client.settings.patience_seconds = 60;
  const CallResult result = client.ask();
  EXPECT_EQ(result.failure.value().kind, FailureKind::rate_limited);
  EXPECT_GT(result.tries, 5U);
  EXPECT_LT(result.tries, 20U);
}

TEST(Patience, IsCancelledWhileItWaits) {
  ScriptedServer server(
      [&](const ServedRequest&, std::size_t) { return plain_answer(503, error_reply("down")); });
  TestClient settings(server.url());
  settings.settings.patience_seconds = 100;
  settings.parts.wait_scale = 0.1;
  const auto client = settings.make();
  const CallResult result = client->complete(request_of(), [&] { return server.count() >= 4; });
  EXPECT_EQ(result.failure.value().kind, FailureKind::cancelled);
}

} // namespace
} // namespace kernevo::llm
