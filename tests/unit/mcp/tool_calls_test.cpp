#include "conversation.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace kernevo::mcp {
namespace {

using testing::HasSubstr;

const Json kBest{{"run", "r"}};

Json result_of(Conversation& talk, const std::string& tool, const Json& arguments) {
  talk.call(1, tool, arguments);
  return talk.answer(1)["result"];
}

// Waits for a file that a script writes.
std::string wait_for_file(const std::filesystem::path& file) {
  for (int i = 0; i < 6000; ++i) {
    std::ifstream stream(file);
    if (std::string word; stream >> word)
      return word;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "";
}

bool gone(const std::string& process) {
  for (int i = 0; i < 1000; ++i) {
    if (::kill(static_cast<pid_t>(std::stol(process)), 0) != 0)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(ToolCall, gives_what_the_command_printed) {
  Conversation talk(R"(printf '{"all": "%s"}' "$*")");
  const Json result = result_of(talk, "best", {{"run", "my run"}, {"as", "kernel"}, {"step", 3}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(result["structuredContent"]["all"],
            "extract --json --blind --as=kernel --iteration=3 -- my run");
  EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()),
            result["structuredContent"]);
}

TEST(ToolCall, no_is_an_answer_and_trouble_is_an_error) {
  for (const auto& [code, error] : {std::pair{0, false}, {1, false}, {2, true}, {3, true}}) {
    Conversation talk("echo '{\"a\": 1}'; exit " + std::to_string(code));
    const Json result = result_of(talk, "best", kBest);
    EXPECT_EQ(result["isError"], error) << code;
    EXPECT_EQ(result["structuredContent"]["exit_code"], code);
  }
}

TEST(ToolCall, says_so_when_there_is_no_json) {
  for (const char* script : {"echo broken >&2; exit 0", "echo '[1]'; echo broken >&2",
                             "echo '{'; echo broken >&2; exit 2"}) {
    Conversation talk(script);
    const Json result = result_of(talk, "best", kBest);
    EXPECT_EQ(result["isError"], true);
    EXPECT_THAT(result["structuredContent"]["message"].get<std::string>(), HasSubstr("broken"));
  }
  Conversation talk("kill -SEGV $$");
  EXPECT_THAT(result_of(talk, "best", kBest)["structuredContent"]["message"].get<std::string>(),
              HasSubstr("signal 11"));
}

TEST(ToolCall, gives_text_as_a_file_and_removes_it) {
  Conversation talk(R"sh(for last; do :; done
dirname "$last" > "$TMPDIR/place"
printf '{"text": "%s", "file": "%s"}' "$(cat "$last")" "$last")sh");
  const Json result = result_of(talk, "check", {{"task", "t.yaml"}, {"source", "__global__"}});
  EXPECT_EQ(result["structuredContent"]["text"], "__global__");
  EXPECT_EQ(result["structuredContent"]["file"], "kernel.cu");
  EXPECT_FALSE(std::filesystem::exists(wait_for_file(talk.folder() / "place")));
}

TEST(ToolCall, refuses_unknown_tools_and_arguments) {
  Conversation talk;
  talk.call(1, "chekc", Json::object());
  EXPECT_EQ(talk.answer(1)["error"]["code"], -32602);
  EXPECT_THAT(talk.answer(1)["error"]["message"].get<std::string>(), HasSubstr("'check'"));
  talk.call(2, "best", {{"run", "r"}, {"nun", 1}});
  EXPECT_EQ(talk.answer(2)["error"]["code"], -32602);
}

TEST(ToolCall, ends_at_its_time_limit) {
  Conversation talk("echo $$ > \"$TMPDIR/process\"; sleep 600");
  const Json result = result_of(talk, "best", {{"run", "r"}, {"time_limit_seconds", 0.5}});
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["structuredContent"]["error"], "time_limit");
  EXPECT_TRUE(gone(wait_for_file(talk.folder() / "process")));
}

TEST(ToolCall, is_cancelled_without_an_answer_while_ping_works) {
  Conversation talk("sleep 600 & echo $! > \"$TMPDIR/process\"; wait");
  talk.call(1, "best", kBest);
  const std::string process = wait_for_file(talk.folder() / "process");
  ASSERT_NE(process, "");
  EXPECT_TRUE(talk.ask("ping").contains("result"));
  talk.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})");
  EXPECT_FALSE(talk.server().idle());
  talk.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  talk.settle();
  EXPECT_TRUE(talk.server().idle());
  EXPECT_TRUE(gone(process));
  EXPECT_EQ(talk.heard().size(), 1U); // the ping's
}

TEST(ToolCall, runs_a_few_at_once_and_refuses_too_many) {
  ServerOptions options;
  options.at_once = 2;
  options.most_calls = 3;
  Conversation talk("echo $$ >> \"$TMPDIR/started\"; while [ ! -e \"$TMPDIR/go\" ]; do sleep 0.02; "
                    "done; echo '{}'",
                    options);
  for (int id = 1; id <= 3; ++id)
    talk.call(id, "best", kBest);
  talk.call(2, "best", kBest);
  EXPECT_EQ(talk.answer(2)["error"]["code"], -32600); // the same id again
  talk.call(4, "best", kBest);
  EXPECT_EQ(talk.answer(4)["error"]["code"], -32000);
  wait_for_file(talk.folder() / "started");
  std::ofstream(talk.folder() / "go") << "go";
  talk.settle();
  EXPECT_TRUE(talk.answer(1).contains("result"));
  EXPECT_TRUE(talk.answer(3).contains("result"));
  std::ifstream started(talk.folder() / "started");
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(started), {}, '\n'), 3);
}

TEST(ToolCall, speaks_of_its_progress_when_asked) {
  ServerOptions options;
  options.progress_seconds = 0.05;
  Conversation talk("sleep 0.5; echo '{}'", options);
  talk.call(1, "best", kBest, {{"progressToken", "p"}});
  talk.answer(1);
  ASSERT_GE(talk.heard().size(), 2U);
  EXPECT_EQ(talk.heard().front()["method"], "notifications/progress");
  EXPECT_EQ(talk.heard().front()["params"]["progressToken"], "p");
}

TEST(ToolCall, leaves_nothing_behind_when_the_server_ends) {
  std::string process;
  {
    Conversation talk("sleep 600 & echo $! > \"$TMPDIR/process\"; wait");
    talk.call(1, "best", kBest);
    process = wait_for_file(talk.folder() / "process");
  }
  EXPECT_TRUE(gone(process));
}

} // namespace
} // namespace kernevo::mcp
