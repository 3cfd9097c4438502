#include "kernevo/base/files.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/mcp/run_tool.h"
#include "kernevo/mcp/tool_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo::mcp {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

Result<PreparedCall> prepare(const std::string& tool, const Json& arguments,
                             const std::string& task = "") {
  return prepare_call(*find_tool(tool), arguments, task);
}

TEST(ToolArguments, become_a_command_line) {
  const auto call = prepare("bench", {{"task", "-t.yaml"},
                                      {"kernel", "k.cu"},
                                      {"gpu", "--help"},
                                      {"parameters", {{"BM", 64}, {"BN", 32.0}}},
                                      {"shapes", {"512x512", "1x1"}},
                                      {"time_limit_seconds", 5}});
  ASSERT_TRUE(call.has_value()) << call.error().message;
  EXPECT_THAT(call->options, ElementsAre("--blind", "--gpu=--help", "--param=BM=64",
                                         "--param=BN=32", "--case=512x512", "--case=1x1"));
  EXPECT_THAT(call->places, ElementsAre("-t.yaml", "k.cu"));
  EXPECT_EQ(call->seconds, 5);
}

TEST(ToolArguments, take_a_file_as_text) {
  const auto call = prepare("compare", {{"task", "t.yaml"}, {"a", "a.cu"}, {"b_source", "code"}});
  ASSERT_TRUE(call.has_value());
  EXPECT_THAT(call->places, ElementsAre("t.yaml", "a.cu", ""));
  ASSERT_EQ(call->files.size(), 1U);
  EXPECT_EQ(call->files[0].place, 2U);
  EXPECT_EQ(call->files[0].name, "b.cu");
  EXPECT_EQ(call->files[0].text, "code");
}

// What a compiler says of a kernel quotes its lines.
TEST(ToolArguments, take_no_task_for_a_kernel) {
  for (const char* path : {"task.yaml", "/home/me/t.yml", "settings.json", "runs/r/run.sqlite"}) {
    EXPECT_THAT(prepare("check", {{"task", "t.yaml"}, {"kernel", path}}).error().message,
                HasSubstr("is no kernel"));
    EXPECT_FALSE(prepare("tell", {{"run", "r"}, {"kernel", path}}).has_value());
    EXPECT_FALSE(prepare("compare", {{"task", "t.yaml"}, {"a", "a.cu"}, {"b", path}}).has_value());
  }
  const auto folder = TemporaryFolder::make().value();
  const std::string own = (folder.path() / "mine").string();
  ASSERT_TRUE(write_file_atomically(own, "op_name: add\n"));
  EXPECT_FALSE(prepare("check", {{"kernel", own}}, own).has_value());
}

TEST(ToolArguments, leave_the_task_to_the_server) {
  EXPECT_FALSE(prepare("check", {{"kernel", "k"}}).has_value());
  EXPECT_THAT(prepare("check", {{"kernel", "k"}}, "own").value().places, ElementsAre("own", "k"));
  EXPECT_THAT(prepare("check", {{"kernel", "k"}, {"task", "t.yaml"}}, "own").value().places,
              ElementsAre("t.yaml", "k"));
}

TEST(ToolArguments, ask_takes_a_task_or_a_run) {
  EXPECT_THAT(prepare("ask", {{"task", "t.yaml"}}).value().places, ElementsAre("t.yaml"));
  EXPECT_THAT(prepare("ask", {{"run", "r"}}, "own").value().places, ElementsAre("r"));
  EXPECT_THAT(prepare("ask", Json::object(), "own").value().places, ElementsAre("own"));
  EXPECT_FALSE(prepare("ask", Json::object()).has_value());
  EXPECT_FALSE(prepare("ask", {{"task", "t.yaml"}, {"run", "r"}}).has_value());
}

TEST(ToolArguments, are_strict) {
  const Json good{{"task", "t.yaml"}, {"kernel", "k"}};
  const auto with = [&](const char* name, const Json& value) {
    Json arguments = good;
    arguments[name] = value;
    return arguments;
  };
  const std::vector<std::pair<Json, const char*>> cases = {
      {with("kernle", "x"), "did you mean 'kernel'"},
      {with("source", "x"), "not both"},
      {{{"task", "t.yaml"}}, "'kernel' (a path) or 'source'"},
      {with("task", 1), "must be a string"},
      {with("task", "/etc/passwd"), "must name a file that ends in .yaml"},
      {with("task", ""), "is empty"},
      {with("task", std::string("a\0b", 3)), "NUL"},
      {with("evaluations", 0), "at least 1"},
      {with("evaluations", 1.5), "must be an integer"},
      {with("evaluations", 1e30), "must be an integer"},
      {with("evaluations", UINT64_MAX), "too large"},
      {with("evaluations", "5"), "must be an integer"},
      {with("seconds", true), "must be a number"},
      {with("time_limit_seconds", 0), "from 0.1"},
      {with("time_limit_seconds", 1e9), "from 0.1"},
      {Json::array(), "must be an object"},
  };
  for (const auto& [arguments, message] : cases) {
    const auto call = prepare("tune", arguments);
    ASSERT_FALSE(call.has_value()) << arguments.dump();
    EXPECT_THAT(call.error().message, HasSubstr(message));
  }
  for (const Json& parameters : {Json{{"A", "1"}}, Json{{"A=B", 1}}, Json{{"", 1}}, Json{1}})
    EXPECT_FALSE(prepare("check", with("parameters", parameters)).has_value()) << parameters;
  EXPECT_FALSE(prepare("check", with("small_only", "yes")).has_value());
  EXPECT_FALSE(prepare("best", {{"run", "r"}, {"as", "exe"}}).has_value());
}

TEST(ToolEnvironment, holds_no_credentials) {
  const char* all[] = {"PATH=/bin",        "HOME=/h",        "OPENAI_API_KEY=x",
                       "KERNEVO_CACHE=/c", "KERNEVO_KEY=x",  "XDG_CACHE_HOME=/x",
                       "LD_PRELOAD=/evil", "PATHOLOGICAL=1", "KERNEVO_TOKEN_A=x",
                       "TMPDIR=/t",        nullptr};
  EXPECT_THAT(tool_environment(all), ElementsAre("PATH=/bin", "HOME=/h", "KERNEVO_CACHE=/c",
                                                 "XDG_CACHE_HOME=/x", "TMPDIR=/t"));
}

} // namespace
} // namespace kernevo::mcp
