#include "fixture.h"

#include "kernevo/base/files.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kernevo::llm {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

} // namespace

ChatRequest request_of(const std::string& id, std::uint64_t max_tokens) {
  ChatRequest request;
  request.messages = {{Role::system, "You write kernels."}, {Role::user, "Write one."}};
  request.max_tokens = max_tokens;
  request.id = id;
  return request;
}

std::string text_chunk(const std::string& text) {
  return fmt::format("data: {{\"id\":\"x\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":"
                     "{{\"content\":{}}},\"finish_reason\":null}}]}}\n\n",
                     quoted(text));
}

std::string finish_chunk(const std::string& reason) {
  return fmt::format("data: {{\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{}},"
                     "\"finish_reason\":\"{}\"}}]}}\n\n",
                     reason);
}

std::string usage_chunk(std::uint64_t prompt, std::uint64_t completion, const std::string& more) {
  return fmt::format("data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":{},"
                     "\"completion_tokens\":{}{}}}}}\n\n",
                     prompt, completion, more);
}

Script good_stream(const std::string& text) {
  return chunked_answer({text_chunk(text), finish_chunk(), usage_chunk(10, 5), kDone});
}

std::string whole_reply(const std::string& text, const std::string& more) {
  return fmt::format("{{\"model\":\"m\",\"choices\":[{{\"index\":0,\"message\":{{\"role\":"
                     "\"assistant\",\"content\":{}}},\"finish_reason\":\"stop\"}}]{}}}",
                     quoted(text), more);
}

std::string error_reply(const std::string& message, const std::string& more) {
  return fmt::format("{{\"error\":{{\"message\":{}{}}}}}", quoted(message), more);
}

std::vector<std::string> TraceFolder::files() const {
  std::vector<std::filesystem::path> names;
  for (const auto& entry : std::filesystem::directory_iterator(path()))
    names.push_back(entry.path());
  std::sort(names.begin(), names.end());
  std::vector<std::string> contents;
  for (const auto& name : names)
    contents.push_back(read_text_file(name).value_or(""));
  return contents;
}

TestClient::TestClient(const std::string& base_url) {
  model.name = "m";
  model.base_url = base_url;
  settings.patience_seconds = 2;
  settings.idle_seconds = 10;
  settings.total_seconds = 20;
  parts.transport = make_curl_transport();
  parts.wait_scale = 0;
}

std::unique_ptr<ChatClient> TestClient::make() const {
  auto client = ChatClient::create(model, settings, parts);
  if (!client) {
    ADD_FAILURE() << format_error(client.error());
    std::abort();
  }
  return std::move(*client);
}

CallResult TestClient::ask(const ChatRequest& request) const {
  return make()->complete(request, {});
}

} // namespace kernevo::llm
