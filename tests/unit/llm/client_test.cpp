#include "fixture.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <future>

namespace kernevo::llm {
namespace {

CallResult answer_to(const Script& script) {
  ScriptedServer server([&](const ServedRequest&, std::size_t) { return script; });
  return TestClient(server.url()).ask();
}

double seconds_of(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Client, KnowsWhichFailuresAreFinal) {
  struct Case {
    int status;
    const char* message;
    FailureKind kind;
  };
  for (const Case& one : std::initializer_list<Case>{
           {401, "no", FailureKind::wrong_key},
           {403, "no", FailureKind::wrong_key},
           {402, "pay", FailureKind::out_of_credit},
           {429, "You exceeded your quota (insufficient_quota)", FailureKind::out_of_credit},
           {404, "The model `m` does not exist", FailureKind::wrong_model},
           {400, "m is not a valid model ID", FailureKind::wrong_model},
           {400, "This model's maximum context length is 8192 tokens",
            FailureKind::context_overflow},
           {400, "prompt is too long: 9 > 8", FailureKind::context_overflow},
           {400, "no idea", FailureKind::bad_request}}) {
    std::atomic<int> posts = 0;
    ScriptedServer server([&](const ServedRequest& request, std::size_t) {
      posts += request.method == "POST" ? 1 : 0;
      return plain_answer(one.status, error_reply(one.message));
    });
    const CallResult result = TestClient(server.url()).ask();
    ASSERT_TRUE(result.failure) << one.message;
    EXPECT_EQ(result.failure->kind, one.kind) << one.message;
    EXPECT_NE(result.failure->message.find(one.message), std::string::npos);
    EXPECT_EQ(posts, 1);
    EXPECT_EQ(result.usage.total(), 0U);
    EXPECT_EQ(result.dollars, 0.0);
  }
}

TEST(Client, TriesAgainWhatMayPass) {
  for (const int status : {408, 409, 425, 429, 500, 502, 503, 529}) {
    ScriptedServer server([&](const ServedRequest&, std::size_t number) {
      return number < 2 ? plain_answer(status, error_reply("later")) : good_stream();
    });
    const CallResult result = TestClient(server.url()).ask();
    EXPECT_TRUE(result.reply) << status;
    EXPECT_EQ(result.tries, 3U);
  }
}

TEST(Client, HeedsWhetherToRetry) {
  EXPECT_EQ(answer_to(plain_answer(500, error_reply("x"), {"x-should-retry: false"})).tries, 1U);
  EXPECT_EQ(answer_to(plain_answer(400, error_reply("x"), {"x-should-retry: true"})).tries, 5U);
}

TEST(Client, WaitsAsLongAsItIsTold) {
  for (const bool date : {false, true}) {
    ScriptedServer server([&](const ServedRequest&, std::size_t number) {
      if (number > 0)
        return good_stream();
      std::string when = "7";
      if (date) {
        const std::time_t later = std::time(nullptr) + 7;
        std::tm t{};
        gmtime_r(&later, &t);
        char text[64];
        std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &t);
        when = text;
      }
      return plain_answer(429, error_reply("slow down"), {"Retry-After: " + when});
    });
    TestClient client(server.url());
    client.settings.patience_seconds = 20;
    client.parts.wait_scale = 0.05;
    CallResult result;
    const double seconds = seconds_of([&] { result = client.ask(); });
    EXPECT_TRUE(result.reply);
    EXPECT_GE(seconds, 0.05 * 5.5) << date; // the backoff alone would be 0.025 s
  }
}

TEST(Client, ReadsTheWaitInTheError) {
  ScriptedServer server([&](const ServedRequest&, std::size_t number) {
    return number > 0 ? good_stream()
                      : plain_answer(429, error_reply("x", R"(,"metadata":{"retry_after":8})"));
  });
  TestClient client(server.url());
  client.settings.patience_seconds = 20;
  client.parts.wait_scale = 0.05;
  EXPECT_GE(seconds_of([&] { EXPECT_TRUE(client.ask().reply); }), 0.05 * 8);
}

TEST(Client, FollowsNoRedirectAndTellsWhereItLeads) {
  ScriptedServer elsewhere([](const ServedRequest&, std::size_t) { return good_stream(); });
  const CallResult result =
      answer_to(plain_answer(307, "", {"Location: " + elsewhere.url() + "/chat/completions"}));
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(elsewhere.count(), 0U);
  EXPECT_NE(result.failure->message.find(elsewhere.url()), std::string::npos);
}

TEST(Client, GivesUpOnASilentStream) {
  ScriptedServer server([](const ServedRequest&, std::size_t) {
    std::vector<std::string> comments(400, ": keep-alive\n\n");
    return chunked_answer(comments, 0.02);
  });
  TestClient client(server.url());
  client.settings.idle_seconds = 0.3;
  client.parts.max_tries = 2;
  const CallResult result = client.ask();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::timeout);
  EXPECT_EQ(result.tries, 2U);
}

TEST(Client, PayloadKeepsAStreamAlive) {
  ScriptedServer server([](const ServedRequest&, std::size_t) {
    std::vector<std::string> texts(8, text_chunk("x"));
    texts.push_back(kDone);
    return chunked_answer(texts, 0.15);
  });
  TestClient client(server.url());
  client.settings.idle_seconds = 0.6;
  EXPECT_EQ(client.ask().reply.value().text, "xxxxxxxx");
}

TEST(Client, KeepsTheTotalDeadline) {
  ScriptedServer server([](const ServedRequest&, std::size_t) {
    return chunked_answer(std::vector<std::string>(2000, text_chunk("x")), 0.02);
  });
  TestClient client(server.url());
  client.settings.total_seconds = 0.5;
  const CallResult result = client.ask();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::timeout);
  EXPECT_EQ(result.tries, 1U);
  EXPECT_TRUE(result.usage.estimated);
  EXPECT_GT(result.usage.completion, 0U);
}

TEST(Client, IsCancelledInTheMiddleOfAStalledStream) {
  ScriptedServer server([](const ServedRequest&, std::size_t) {
    return chunked_answer({text_chunk("x"), text_chunk("y")}, 5);
  });
  const auto client = TestClient(server.url()).make();
  std::atomic<bool> cancelled = false;
  auto call = std::async(std::launch::async, [&] {
    return client->complete(request_of(), [&] { return cancelled.load(); });
  });
  while (server.count() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CallResult result;
  const double seconds = seconds_of([&] {
    cancelled = true;
    result = call.get();
  });
  EXPECT_EQ(result.failure.value().kind, FailureKind::cancelled);
  EXPECT_LT(seconds, 2.5); // the stream alone would take five
}

TEST(Client, HoldsTheNumberOfCallsAtOnce) {
  // Counted before anything is answered: a client whose answer has come is free to ask again.
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  ScriptedServer server([&](const ServedRequest&, std::size_t) {
    const int here = ++now;
    for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --now;
    return chunked_answer({text_chunk("x"), kDone});
  });
  TestClient settings(server.url());
  settings.parts.slots = std::make_shared<CallSlots>(2);
  const auto first = settings.make();
  const auto second = settings.make();
  std::vector<std::future<CallResult>> calls;
  for (int i = 0; i < 12; ++i)
    calls.push_back(std::async(std::launch::async, [&, i] {
      return (i % 2 == 0 ? first : second)->complete(request_of(fmt::format("{}.code.0", i)), {});
    }));
  for (auto& call : calls)
    EXPECT_TRUE(call.get().reply);
  EXPECT_EQ(most, 2);
}

TEST(Client, IsCancelledWhileItWaitsForItsTurn) {
  ScriptedServer server([](const ServedRequest&, std::size_t) {
    return chunked_answer({text_chunk("x"), kDone}, 1);
  });
  TestClient settings(server.url());
  settings.settings.concurrency = 1;
  const auto client = settings.make();
  auto busy = std::async(std::launch::async, [&] { return client->complete(request_of(), {}); });
  while (server.count() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const CallResult result = client->complete(request_of("2.code.0"), [] { return true; });
  EXPECT_EQ(result.failure.value().kind, FailureKind::cancelled);
  EXPECT_EQ(result.tries, 0U);
  EXPECT_TRUE(busy.get().reply);
}

} // namespace
} // namespace kernevo::llm
