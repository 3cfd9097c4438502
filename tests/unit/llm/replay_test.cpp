#include "fixture.h"

#include "kernevo/base/files.h"

#include <nlohmann/json.hpp>

namespace kernevo::llm {
namespace {

using Json = nlohmann::json;

LlmSettings replaying(const std::filesystem::path& place) {
  LlmSettings settings;
  ModelSettings model;
  model.name = "m";
  model.api_key_env = "KERNEVO_NO_SUCH_KEY"; // a replay needs none
  settings.models = {model};
  settings.replay = place.string();
  return settings;
}

std::shared_ptr<ChatClient> replay_client(const std::filesystem::path& place) {
  auto clients = make_clients(replaying(place), "");
  if (!clients)
    ADD_FAILURE() << format_error(clients.error());
  return clients.value().at(0);
}

// What a run sees of a call, all but the time.
std::string shown(const CallResult& result) {
  Json json{{"tries", result.tries},
            {"prompt", result.usage.prompt},
            {"completion", result.usage.completion},
            {"estimated", result.usage.estimated},
            {"dollars", result.dollars.value_or(-1)}};
  if (result.reply)
    json["reply"] = {result.reply->text, result.reply->reasoning, result.reply->finish,
                     result.reply->model};
  else
    json["failure"] = name_of(result.failure->kind);
  return json.dump();
}

TEST(Trace, HasTheShapeOthersRead) {
  const TraceFolder folder;
  ScriptedServer server([](const ServedRequest&, std::size_t) { return good_stream("hi"); });
  TestClient client(server.url());
  client.parts.tracer = Tracer::open(folder.path()).value();
  ASSERT_TRUE(client.ask().reply);
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 1U);
  const Json trace = Json::parse(files[0]);
  EXPECT_EQ(trace["request"]["id"], "1.code.0");
  EXPECT_EQ(trace["request"]["method"], "POST");
  EXPECT_EQ(trace["request"]["path"], "/chat/completions");
  EXPECT_EQ(trace["request"]["upstream"], server.url());
  EXPECT_EQ(trace["request"]["json"]["messages"][1]["content"], "Write one.");
  EXPECT_EQ(trace["request"]["raw_bytes_len"], server.requests()[0].body.size());
  EXPECT_EQ(trace["response"]["status"], 200);
  EXPECT_EQ(trace["response"]["streamed"], true);
  EXPECT_EQ(trace["response"]["json"]["object"], "chat.completion");
  EXPECT_EQ(trace["response"]["json"]["choices"][0]["message"]["content"], "hi");
  EXPECT_EQ(trace["response"]["json"]["usage"]["prompt_tokens"], 10);
  EXPECT_GE(trace["timing"]["elapsed_s"], 0);
  EXPECT_FALSE(trace["ts_utc"].get<std::string>().empty());
}

TEST(Trace, GoesOnCountingWhereItEnded) {
  const TraceFolder folder;
  ScriptedServer server([](const ServedRequest&, std::size_t) { return good_stream(); });
  for (int i = 0; i < 3; ++i) {
    TestClient client(server.url());
    client.parts.tracer = Tracer::open(folder.path()).value();
    ASSERT_TRUE(client.ask().reply);
  }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 3U);
  EXPECT_TRUE(names[0].starts_with("000001_"));
  EXPECT_TRUE(names[2].starts_with("000003_"));
  EXPECT_TRUE(names[2].ends_with("_POST.json"));
}

TEST(Trace, AnAnswerThatCannotBeRecordedIsGivenAndTold) {
  auto folder = std::make_unique<TraceFolder>();
  ScriptedServer server([](const ServedRequest&, std::size_t) { return good_stream("hi"); });
  TestClient settings(server.url());
  settings.parts.tracer = Tracer::open(folder->path()).value();
  const auto client = settings.make();
  ASSERT_TRUE(client->complete(request_of("1.code.0"), {}).reply);
  EXPECT_FALSE(client->trace_problem());
  folder.reset();
  ASSERT_TRUE(client->complete(request_of("2.code.0"), {}).reply);
  EXPECT_TRUE(client->trace_problem());
}

TEST(Replay, AnswersAsTheEndpointDid) {
  const TraceFolder folder;
  ScriptedServer server([](const ServedRequest& request, std::size_t number) {
    switch (number) {
    case 0: return plain_answer(503, error_reply("busy"));
    case 1: return chunked_answer({text_chunk("half of it")}, 0, false);
    case 2: return chunked_answer({text_chunk("<think>hm</think>one"), kDone});
    case 3: return plain_answer(400, error_reply("nothing we know"));
    case 4: return chunked_answer({text_chunk("a"), "data: {bad\n\n"});
    default:
      return request.body.find("\"seed\"") != std::string::npos
                 ? plain_answer(400, error_reply("seed is not supported"))
                 : good_stream("two");
    }
  });
  TestClient settings(server.url());
  settings.parts.tracer = Tracer::open(folder.path()).value();
  settings.model.seed = 3;
  const auto live = settings.make();
  LlmSettings again = replaying(folder.path());
  again.models[0].seed = 3;
  again.models[0].base_url = "http://127.0.0.1:1/replayed";
  std::vector<std::string> seen;
  for (const char* id : {"1.code.0", "2.code.0", "3.code.0", "4.code.0"})
    seen.push_back(shown(live->complete(request_of(id), {})));
  const auto replay = make_clients(again, "").value().at(0);
  std::size_t i = 0;
  for (const char* id : {"1.code.0", "2.code.0", "3.code.0", "4.code.0"})
    EXPECT_EQ(shown(replay->complete(request_of(id), {})), seen[i++]) << id;
  EXPECT_EQ(replay->differing(), 0U);
}

TEST(Replay, TakesWhatIsWrittenByHand) {
  const TraceFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  ASSERT_TRUE(write_file_atomically(file, R"({"id":"1.code.0","text":"hello"}

{"request":{"id":"2.code.0"},"response":{"json":{"choices":[{"message":{"content":"two"},"finish_reason":"stop"}]}}}
)"));
  const auto client = replay_client(file);
  EXPECT_TRUE(client->probe({}).reply);
  const CallResult first = client->complete(request_of("1.code.0"), {});
  ASSERT_TRUE(first.reply);
  EXPECT_EQ(first.reply->text, "hello");
  EXPECT_EQ(first.usage.completion, estimate_tokens("hello"));
  EXPECT_EQ(first.usage.prompt,
            estimate_tokens("You write kernels.") + estimate_tokens("Write one."));
  EXPECT_EQ(client->complete(request_of("2.code.0"), {}).reply.value().text, "two");
  const CallResult none = client->complete(request_of("4.code.0"), {});
  ASSERT_TRUE(none.failure);
  EXPECT_EQ(none.failure->kind, FailureKind::bad_request);
  EXPECT_EQ(none.failure->message, "the recording has no call 4.code.0");
  EXPECT_FALSE(none.failure->fix.empty());
}

TEST(Replay, CountsRequestsThatDiffer) {
  const TraceFolder folder;
  ASSERT_TRUE(write_file_atomically(
      folder.path() / "1.json",
      R"({"request":{"id":"1.code.0","json":{"model":"m"}},"response":{"json":{"choices":[{"message":{"content":"x"}}]}}})"));
  const auto client = replay_client(folder.path());
  EXPECT_TRUE(client->complete(request_of("1.code.0"), {}).reply);
  EXPECT_EQ(client->differing(), 1U);
}

TEST(Replay, ABrokenRecordingIsRefusedWithItsPlace) {
  const TraceFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  ASSERT_TRUE(write_file_atomically(file, "{\"id\":\"1\",\"text\":\"a\"}\n{\"id\":2}\n"));
  const auto clients = make_clients(replaying(file), "");
  ASSERT_FALSE(clients);
  EXPECT_EQ(clients.error().place.value().line, 2);
  EXPECT_FALSE(make_clients(replaying(folder.path() / "missing"), ""));
}

} // namespace
} // namespace kernevo::llm
