#include "fixture.h"

#include "kernevo/base/random.h"

#include <fmt/format.h>
#include <future>

namespace kernevo::llm {
namespace {

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

// The bytes of a whole answer, in one of the ways endpoints have.
std::string whole_answer(std::uint64_t way) {
  Script script;
  switch (way % 4) {
  case 0:
    script = chunked_answer({": hi\n\n", text_chunk("first "), text_chunk("second"), finish_chunk(),
                             usage_chunk(40, 20), kDone});
    break;
  case 1:
    script = open_ended_answer({text_chunk("<think>so"), text_chunk("</think>then"), finish_chunk(),
                                usage_chunk(40, 20), kDone});
    break;
  case 2:
    script = plain_answer(
        200, whole_reply("all at once", R"(,"usage":{"prompt_tokens":40,"completion_tokens":20})"));
    break;
  default: script = chunked_answer({text_chunk("no count"), finish_chunk(), kDone}); break;
  }
  std::string bytes;
  for (const ScriptPiece& piece : script.pieces)
    bytes += piece.bytes;
  return bytes;
}

struct Cut {
  std::string bytes;
  bool whole = false;
  bool reset = false;
  std::size_t of_body = 0; // bytes behind the headers
};

Cut cut_of(std::uint64_t number) {
  const CounterRandom random(20260131);
  Cut cut;
  const std::string all = whole_answer(random.bits(4 * number));
  const auto at = static_cast<std::size_t>(
      random.integer(4 * number + 1, 0, static_cast<std::int64_t>(all.size())));
  cut.bytes = all.substr(0, at);
  cut.whole = at == all.size();
  cut.reset = random.bits(4 * number + 2) % 4 == 0;
  const std::size_t body = all.find("\r\n\r\n") + 4;
  cut.of_body = at > body ? at - body : 0;
  return cut;
}

// Which cut a request is about is in its prompt.
ChatRequest numbered(std::uint64_t number) {
  ChatRequest request = request_of(fmt::format("{}.code.0", number));
  request.messages = {{Role::user, fmt::format("<{}>", number)}};
  return request;
}

std::uint64_t number_in(const ServedRequest& request) {
  return std::stoull(request.body.substr(request.body.find("\"<") + 2));
}

TEST(CutStreams, EveryOneEndsAndIsAccountedFor) {
  constexpr std::uint64_t kCalls = 10000;
  constexpr std::uint64_t kThreads = 4;
  const std::size_t files_before = open_files();
  {
    ScriptedServer server([](const ServedRequest& request, std::size_t) {
      const Cut cut = cut_of(number_in(request));
      return Script{{{cut.bytes}}, cut.reset};
    });
    TestClient settings(server.url());
    settings.parts.max_tries = 1;
    CircuitPolicy never;
    never.failures = 1U << 30U;
    settings.parts.circuit = std::make_shared<Circuit>(never);
    const auto client = settings.make();
    std::vector<std::future<void>> workers;
    std::atomic<std::uint64_t> replies = 0;
    std::atomic<std::uint64_t> tries = 0;
    for (std::uint64_t worker = 0; worker < kThreads; ++worker)
      workers.push_back(std::async(std::launch::async, [&, worker] {
        for (std::uint64_t number = worker; number < kCalls; number += kThreads) {
          const CallResult result = client->complete(numbered(number), {});
          const Cut cut = cut_of(number);
          ASSERT_NE(result.reply.has_value(), result.failure.has_value()) << number;
          replies += result.reply ? 1 : 0;
          tries += result.tries;
          // A reset may throw away what was sent; without one all of it arrives.
          if (cut.reset)
            continue;
          if (cut.whole) {
            ASSERT_TRUE(result.reply) << number;
          }
          if (cut.of_body > 8) { // more than the length of the first chunk
            ASSERT_GT(result.usage.total(), 0U) << number << ": " << cut.bytes;
          }
          if (cut.bytes.empty()) {
            ASSERT_EQ(result.usage.total(), 0U) << number;
          }
          if (result.reply && !result.usage.estimated) {
            ASSERT_EQ(result.usage, (TokenUsage{40, 0, 20, 0, false})) << number;
          }
        }
      }));
    for (auto& worker : workers)
      worker.get();
    EXPECT_EQ(tries, kCalls);
    EXPECT_EQ(server.count(), kCalls);
    EXPECT_GT(replies, kCalls / 50);
    EXPECT_LT(replies, kCalls);
  }
  EXPECT_EQ(open_files(), files_before);
}

// The sum of a call's tries is what the endpoint served in them.
TEST(CutStreams, TriesAddUp) {
  ScriptedServer server([](const ServedRequest&, std::size_t number) {
    if (number % 3 == 2)
      return chunked_answer({text_chunk("abcdef"), finish_chunk(), usage_chunk(40, 20), kDone});
    Script cut = chunked_answer({text_chunk("abcdef")}, 0, false);
    return cut;
  });
  TestClient settings(server.url());
  const auto client = settings.make();
  for (int i = 0; i < 20; ++i) {
    const CallResult result = client->complete(request_of(), {});
    ASSERT_TRUE(result.reply);
    EXPECT_EQ(result.tries, 3U);
    const std::uint64_t prompt =
        estimate_tokens("You write kernels.") + estimate_tokens("Write one.");
    EXPECT_EQ(result.usage.prompt, 2 * prompt + 40);
    EXPECT_EQ(result.usage.completion, 2 * estimate_tokens("abcdef") + 20);
    EXPECT_TRUE(result.usage.estimated);
  }
}

} // namespace
} // namespace kernevo::llm
