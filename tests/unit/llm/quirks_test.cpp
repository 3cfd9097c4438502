#include "fixture.h"

#include <functional>
#include <nlohmann/json.hpp>

namespace kernevo::llm {
namespace {

using Json = nlohmann::json;

// An endpoint that refuses requests for a reason, until there is none.
ScriptedServer::Handler refusing(std::function<std::string(const Json&)> reason, int status = 400) {
  return [=](const ServedRequest& request, std::size_t) {
    const std::string refusal = reason(Json::parse(request.body));
    return refusal.empty() ? good_stream() : plain_answer(status, refusal);
  };
}

TestClient everything_set(const ScriptedServer& server) {
  TestClient client(server.url());
  client.model.temperature = 0.5;
  client.model.top_p = 0.75;
  client.model.seed = 7;
  client.model.reasoning_effort = "high";
  return client;
}

Json last_body(const ScriptedServer& server) {
  return Json::parse(server.requests().back().body);
}

TEST(Quirks, OnlyWhatIsSetIsSent) {
  ScriptedServer server([](const ServedRequest&, std::size_t) { return good_stream(); });
  ASSERT_TRUE(TestClient(server.url()).ask().reply);
  Json body = last_body(server);
  EXPECT_EQ(body["max_tokens"], 100);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body.size(), 5U) << body;
  ASSERT_TRUE(everything_set(server).ask().reply);
  body = last_body(server);
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["top_p"], 0.75);
  EXPECT_EQ(body["seed"], 7);
  EXPECT_EQ(body["reasoning_effort"], "high");
}

TEST(Quirks, TheLimitHasTwoNames) {
  ScriptedServer server(refusing([](const Json& body) {
    return body.contains("max_tokens")
               ? error_reply("Unsupported parameter: 'max_tokens' is not supported with this model."
                             " Use 'max_completion_tokens' instead.",
                             R"(,"code":"unsupported_parameter","param":"max_tokens")")
               : "";
  }));
  const TestClient client(server.url());
  const CallResult first = client.ask();
  ASSERT_TRUE(first.reply);
  EXPECT_EQ(first.tries, 2U);
  EXPECT_EQ(last_body(server)["max_completion_tokens"], 100);
  EXPECT_EQ(client.ask().tries, 1U); // remembered
}

TEST(Quirks, TheLimitGoesBackToItsOldName) {
  bool new_name = true;
  ScriptedServer server(refusing([&](const Json& body) {
    const char* refused = new_name ? "max_tokens" : "max_completion_tokens";
    return body.contains(refused)
               ? error_reply(std::string("Unrecognized request argument supplied: ") + refused)
               : "";
  }));
  const TestClient client(server.url());
  EXPECT_EQ(client.ask().tries, 2U);
  new_name = false;
  EXPECT_EQ(client.ask().tries, 2U);
  EXPECT_EQ(last_body(server)["max_tokens"], 100);
}

TEST(Quirks, ALimitThatIsRefusedUnderBothNamesIsAFailure) {
  ScriptedServer server(refusing([](const Json&) {
    return error_reply("unknown parameters max_tokens, max_completion_tokens");
  }));
  const CallResult result = TestClient(server.url()).ask();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::bad_request);
  EXPECT_EQ(server.count(), 3U);
}

TEST(Quirks, ALimitThatIsTooLargeIsLowered) {
  ScriptedServer server(refusing([](const Json& body) {
    return body["max_tokens"] > 4096
               ? error_reply("max_tokens is too large: 8192. This model supports at most 4096 "
                             "completion tokens, whereas you provided 8192.")
               : "";
  }));
  ASSERT_TRUE(TestClient(server.url()).ask(request_of("1.code.0", 8192)).reply);
  EXPECT_EQ(last_body(server)["max_tokens"], 4096);
}

struct Refusal {
  const char* field;
  const char* body;
  int status;
};

class DroppedField : public testing::TestWithParam<Refusal> {};

TEST_P(DroppedField, IsNotSentAgain) {
  const Refusal refusal = GetParam();
  ScriptedServer server(
      refusing([&](const Json& body) { return body.contains(refusal.field) ? refusal.body : ""; },
               refusal.status));
  const TestClient client = everything_set(server);
  const CallResult result = client.ask();
  ASSERT_TRUE(result.reply) << result.failure->message;
  EXPECT_EQ(result.tries, 2U);
  EXPECT_FALSE(last_body(server).contains(refusal.field));
  EXPECT_EQ(client.ask().tries, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Quirks, DroppedField,
    testing::Values(
        Refusal{
            "temperature",
            R"({"error":{"message":"Unsupported value: 'temperature' does not support 0.5","param":"temperature"}})",
            400},
        Refusal{"top_p",
                R"({"error":{"message":"`temperature` and `top_p` cannot both be specified"}})",
                400},
        Refusal{"seed",
                R"([{"error":{"message":"Unknown name \"seed\": Cannot find field.","code":400}}])",
                400},
        Refusal{
            "stream_options",
            R"({"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]})",
            422},
        Refusal{"stream", R"({"message":"streaming is not supported by this model"})", 400}),
    [](const auto& one) { return std::string(one.param.field); });

TEST(Quirks, EffortHasTwoFormsAndThenNone) {
  ScriptedServer server(refusing([](const Json& body) -> std::string {
    if (body.contains("reasoning_effort"))
      return error_reply("unknown field reasoning_effort");
    if (body.contains("reasoning"))
      return error_reply("reasoning is not supported");
    return "";
  }));
  const CallResult result = everything_set(server).ask();
  ASSERT_TRUE(result.reply);
  ASSERT_EQ(server.count(), 3U);
  EXPECT_EQ(Json::parse(server.requests()[1].body)["reasoning"]["effort"], "high");
}

TEST(Quirks, EndpointsAreRememberedApart) {
  const auto reason = [](const Json& body) {
    return body.contains("seed") ? error_reply("seed is not supported") : "";
  };
  ScriptedServer first(refusing(reason));
  ScriptedServer second([](const ServedRequest&, std::size_t) { return good_stream(); });
  ASSERT_TRUE(everything_set(first).ask().reply);
  ASSERT_TRUE(everything_set(second).ask().reply);
  EXPECT_TRUE(last_body(second).contains("seed"));
  TestClient other = everything_set(first);
  other.model.name = "other";
  EXPECT_EQ(other.ask().tries, 2U); // another model of the same endpoint
}

TEST(Quirks, OtherRefusalsAreFinal) {
  ScriptedServer server(
      refusing([](const Json&) { return error_reply("messages are too silly"); }));
  const CallResult result = TestClient(server.url()).ask();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, FailureKind::bad_request);
  EXPECT_NE(result.failure->message.find("too silly"), std::string::npos);
  EXPECT_EQ(server.count(), 1U);
}

} // namespace
} // namespace kernevo::llm
