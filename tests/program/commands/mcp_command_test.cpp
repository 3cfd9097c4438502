// The real program as a server, on pipes.
#include "places.h"
#include "run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

using Json = nlohmann::ordered_json;

SubprocessResult serve(const std::string& input, const std::vector<std::string>& more = {}) {
  SubprocessRequest request;
  request.arguments = {program_path(), "mcp"};
  request.arguments.insert(request.arguments.end(), more.begin(), more.end());
  request.input = input;
  request.time_limit_seconds = 120;
  return run_subprocess(request).value();
}

std::vector<Json> messages_of(const std::string& output) {
  std::vector<Json> messages;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = output.find('\n', at);
    messages.push_back(Json::parse(output.substr(at, end - at)));
    at = end + 1;
  }
  return messages;
}

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                          "\n";

TEST(McpProgram, survives_a_line_of_fifty_megabytes) {
  const auto run = serve(std::string(50U << 20U, 'x') + "\n" + kPing);
  EXPECT_EQ(run.exit_status, 0);
  const auto messages = messages_of(run.output);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0]["error"]["code"], -32600);
  EXPECT_EQ(messages[1]["id"], 1);
}

TEST(McpProgram, answers_what_was_asked_before_the_end_of_its_input) {
  const Json call{{"jsonrpc", "2.0"},
                  {"id", 2},
                  {"method", "tools/call"},
                  {"params", {{"name", "check"}, {"arguments", {{"source", "__global__"}}}}}};
  const auto run =
      serve(call.dump() + "\n", {"--task", source_folder() + "/examples/softmax/task.yaml"});
  EXPECT_EQ(run.exit_status, 0);
  const auto messages = messages_of(run.output);
  ASSERT_EQ(messages.size(), 1U) << run.error_output;
  EXPECT_EQ(messages[0]["id"], 2);
  EXPECT_TRUE(messages[0]["result"].contains("structuredContent")) << messages[0].dump();
}

TEST(McpProgram, refuses_a_task_that_is_none) {
  const auto run = serve(kPing, {"--task", "/no/such.yaml"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_TRUE(run.output.empty());
}

} // namespace
} // namespace kernevo
