#include "fixture.h"

#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kernevo::llm {
namespace {

struct KeySet {
  KeySet() { setenv(kKeyVariable, kKey, 1); }
  ~KeySet() { unsetenv(kKeyVariable); }
};

// As JSON writes it, with every character escaped.
std::string escaped_key() {
  std::string text;
  for (const char* c = kKey; *c != '\0'; ++c)
    text += fmt::format("\\u{:04x}", static_cast<unsigned>(*c));
  return text;
}

void expect_no_key(const std::string& text) {
  EXPECT_EQ(text.find(kKey), std::string::npos) << text;
  EXPECT_EQ(text.find("0123456789"), std::string::npos) << text;
}

TEST(Key, IsSentAsItIsNamed) {
  const KeySet set;
  ScriptedServer server([](const ServedRequest&, std::size_t) { return good_stream(); });
  TestClient client(server.url());
  ASSERT_TRUE(client.ask().reply);
  EXPECT_FALSE(server.requests().back().headers.contains("authorization"));
  client.model.api_key_env = kKeyVariable;
  ASSERT_TRUE(client.ask().reply);
  EXPECT_EQ(server.requests().back().headers["authorization"], std::string("Bearer ") + kKey);
}

TEST(Key, ThatIsMissingIsNamed) {
  unsetenv("KERNEVO_NO_SUCH_KEY");
  TestClient client("http://127.0.0.1:1/v1");
  client.model.api_key_env = "KERNEVO_NO_SUCH_KEY";
  const auto made = ChatClient::create(client.model, client.settings, client.parts);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("KERNEVO_NO_SUCH_KEY"), std::string::npos);
  EXPECT_EQ(made.error().fix, "export KERNEVO_NO_SUCH_KEY=...");
}

TEST(Key, IsNeverShownThoughTheEndpointEchoesIt) {
  const KeySet set;
  const std::string plain = nlohmann::json(kKey).dump();
  const std::string bare = plain.substr(1, plain.size() - 2);
  const std::string whole = text_chunk(std::string("see ") + kKey);
  for (const Script& script :
       {plain_answer(401, "{\"error\":{\"message\":\"wrong key " + bare + "\"}}"),
        plain_answer(401, "{\"error\":{\"message\":\"wrong key " + escaped_key() + "\"}}"),
        plain_answer(401, "{\"broken\": \"" + escaped_key(), {std::string("X-Key: ") + kKey}),
        plain_answer(401, std::string("<p>wrong key ") + kKey + "</p>"),
        plain_answer(302, "", {std::string("Location: http://x/?api_key=") + kKey}),
        plain_answer(200, "{\"odd\":\"" + escaped_key() + "\"}"),
        chunked_answer({whole.substr(0, 70), whole.substr(70), finish_chunk(), kDone}),
        chunked_answer({text_chunk("sk-test/01"), text_chunk("23456789\"abc"), kDone})}) {
    const TraceFolder folder;
    ScriptedServer server([&](const ServedRequest&, std::size_t) { return script; });
    TestClient client(server.url());
    client.model.api_key_env = kKeyVariable;
    client.parts.max_tries = 1;
    client.parts.tracer = Tracer::open(folder.path()).value();
    const CallResult result = client.ask();
    if (result.failure)
      expect_no_key(result.failure->message + result.failure->fix);
    else
      expect_no_key(result.reply->text);
    const auto files = folder.files();
    ASSERT_FALSE(files.empty());
    for (const std::string& file : files) {
      expect_no_key(file);
      EXPECT_EQ(file.find("u0073\\u006b"), std::string::npos) << file;
      EXPECT_NE(file.find("[redacted]"), std::string::npos);
    }
  }
}

} // namespace
} // namespace kernevo::llm
