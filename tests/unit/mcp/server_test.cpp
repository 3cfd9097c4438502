#include "conversation.h"
#include "places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kernevo::mcp {
namespace {

int code_of(const Json& message) {
  return message.contains("error") ? message["error"]["code"].get<int>() : 0;
}

TEST(Server, agrees_on_a_version) {
  Conversation talk;
  for (const char* version : {"2025-06-18", "2025-03-26", "2024-11-05"})
    EXPECT_EQ(talk.ask("initialize", {{"protocolVersion", version}})["result"]["protocolVersion"],
              version);
  const Json answer = talk.ask("initialize", {{"protocolVersion", "2099-01-01"}});
  EXPECT_EQ(answer["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(answer["result"]["serverInfo"]["version"], "1.2.3");
  EXPECT_TRUE(answer["result"]["capabilities"].contains("tools"));
  EXPECT_FALSE(answer["result"]["capabilities"].contains("prompts"));
  EXPECT_EQ(code_of(talk.ask("initialize")), -32602);
}

TEST(Server, answers_ping_and_says_nothing_to_notifications) {
  Conversation talk;
  talk.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  talk.say(R"({"jsonrpc":"2.0","method":"notifications/whatever","params":[1]})");
  talk.say(R"({"jsonrpc":"2.0","id":7,"result":{}})");
  talk.say("  ");
  EXPECT_TRUE(talk.heard().empty());
  EXPECT_EQ(talk.ask("ping")["result"], Json::object());
}

TEST(Server, refuses_what_is_not_a_message) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"{", -32700},
      {"\xff\xfe", -32700},
      {"nonsense", -32700},
      {"1", -32600},
      {"[]", -32600},
      {"{}", -32600},
      {R"({"jsonrpc":"2.0","id":1})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"no/such"})", -32601},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"resources/read"})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kernevo://no"}})",
       -32002},
      {std::string(100000, '['), -32700},
      {R"({"a":)" + std::string(200, '[') + std::string(200, ']') + "}", -32700},
  };
  for (const auto& [text, code] : cases) {
    Conversation talk;
    talk.say(text);
    ASSERT_EQ(talk.heard().size(), 1U) << text.substr(0, 100);
    EXPECT_EQ(code_of(talk.heard().front()), code) << text.substr(0, 100);
  }
}

TEST(Server, refuses_a_line_that_is_too_long_and_lives_on) {
  Conversation talk;
  talk.server().receive({"", true});
  ASSERT_EQ(talk.heard().size(), 1U);
  EXPECT_EQ(code_of(talk.heard().front()), -32600);
  EXPECT_TRUE(talk.ask("ping").contains("result"));
}

TEST(Server, answers_a_batch_together) {
  Conversation talk("echo '{\"x\": 1}'");
  talk.say(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},)"
           R"({"jsonrpc":"2.0","method":"notifications/initialized"},)"
           R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":)"
           R"({"name":"best","arguments":{"run":"r"}}}])");
  talk.settle();
  const auto heard = talk.heard();
  ASSERT_EQ(heard.size(), 1U);
  ASSERT_TRUE(heard.front().is_array());
  EXPECT_EQ(heard.front().size(), 2U);
}

TEST(Server, lists_tools_with_strict_schemas) {
  Conversation talk;
  std::vector<std::string> names;
  const Json answer = talk.ask("tools/list");
  for (const Json& tool : answer["result"]["tools"]) {
    names.push_back(tool["name"]);
    EXPECT_GT(tool["description"].get<std::string>().size(), 40U);
    const Json& schema = tool["inputSchema"];
    EXPECT_EQ(schema["type"], "object");
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const auto& property : schema["properties"].items()) {
      EXPECT_TRUE(property.value().contains("type")) << property.key();
      EXPECT_TRUE(property.value().contains("description")) << property.key();
    }
    for (const Json& name : schema["required"])
      EXPECT_TRUE(schema["properties"].contains(name.get<std::string>()));
  }
  EXPECT_THAT(names, testing::ElementsAre("check", "bench", "profile", "compare", "tune", "ask",
                                          "tell", "best"));
}

TEST(Server, ask_names_its_task_as_required_only_without_one_of_its_own) {
  const auto requires_task = [](Conversation& talk) {
    const Json list = talk.ask("tools/list")["result"]["tools"];
    const Json& required = list[0]["inputSchema"]["required"];
    return std::find(required.begin(), required.end(), "task") != required.end();
  };
  Conversation without;
  EXPECT_TRUE(requires_task(without));
  ServerOptions options;
  options.task = "task.yaml";
  Conversation with("echo '{}'", options);
  EXPECT_FALSE(requires_task(with));
}

TEST(Server, gives_its_pages) {
  Conversation talk;
  const Json answer = talk.ask("resources/list");
  EXPECT_EQ(answer["result"]["resources"].size(), 2U);
  for (const Json& resource : answer["result"]["resources"]) {
    const Json read = talk.ask("resources/read", {{"uri", resource["uri"]}});
    ASSERT_TRUE(read.contains("result")) << read.dump();
    EXPECT_GT(read["result"]["contents"][0]["text"].get<std::string>().size(), 200U);
  }
  EXPECT_EQ(talk.ask("resources/templates/list")["result"]["resourceTemplates"].size(), 1U);
  EXPECT_EQ(talk.ask("prompts/list")["result"]["prompts"].size(), 0U);
}

TEST(Server, gives_a_task_by_its_path) {
  Conversation talk;
  const std::string path = source_folder() + "/examples/softmax/task.yaml";
  const Json read = talk.ask("resources/read", {{"uri", "kernevo://task/" + path}});
  ASSERT_TRUE(read.contains("result")) << read.dump();
  EXPECT_THAT(read["result"]["contents"][0]["text"].get<std::string>(),
              testing::HasSubstr("softmax"));
  EXPECT_EQ(code_of(talk.ask("resources/read", {{"uri", "kernevo://task"}})), -32002);
  EXPECT_EQ(code_of(talk.ask("resources/read", {{"uri", "kernevo://task//etc/passwd"}})), -32002);
}

RC_GTEST_PROP(Server, answers_any_bytes_with_messages, ()) {
  Conversation talk;
  talk.say(*rc::gen::arbitrary<std::string>());
  talk.settle();
  for (const Json& message : talk.heard())
    RC_ASSERT(message.is_array() || message.contains("jsonrpc"));
}

} // namespace
} // namespace kernevo::mcp
