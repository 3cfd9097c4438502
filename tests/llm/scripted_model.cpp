#include "scripted_model.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

using Json = nlohmann::json;

std::string event(const Json& json) {
  return "data: " + json.dump() + "\n\n";
}

Json chunk(const std::string& text) {
  return {
      {"id", "x"},
      {"object", "chat.completion.chunk"},
      {"model", "scripted"},
      {"choices", {{{"index", 0}, {"delta", {{"content", text}}}, {"finish_reason", nullptr}}}}};
}

Script stream(const ModelAnswer& answer) {
  const std::size_t half = answer.text.size() / 2;
  Json last = chunk("");
  last["choices"][0]["finish_reason"] = "stop";
  Json usage = chunk("");
  usage["choices"] = Json::array();
  usage["usage"] = {{"prompt_tokens", answer.prompt}, {"completion_tokens", answer.completion}};
  return chunked_answer({event(chunk(answer.text.substr(0, half))), ": keep-alive\n\n",
                         event(chunk(answer.text.substr(half))), event(last), event(usage),
                         "data: [DONE]\n\n"});
}

} // namespace

ScriptedModel::ScriptedModel(Answer answer)
    : answer_(std::move(answer)),
      server_([this](const ServedRequest& request, std::size_t) { return serve(request); }) {}

Script ScriptedModel::serve(const ServedRequest& request) {
  if (request.method == "GET")
    return plain_answer(200, R"({"object":"list","data":[{"id":"scripted"},{"id":"second"}]})");
  std::size_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = bodies_.size();
    bodies_.push_back(request.body);
  }
  const ModelAnswer answer = answer_(request.body, number);
  if (answer.status != 200)
    return plain_answer(answer.status, Json{{"error", {{"message", answer.text}}}}.dump());
  const std::lock_guard lock(mutex_);
  billed_ += answer.prompt + answer.completion;
  return stream(answer);
}

std::size_t ScriptedModel::completions() const {
  const std::lock_guard lock(mutex_);
  return bodies_.size();
}

std::uint64_t ScriptedModel::billed() const {
  const std::lock_guard lock(mutex_);
  return billed_;
}

std::vector<std::string> ScriptedModel::bodies() const {
  const std::lock_guard lock(mutex_);
  return bodies_;
}

std::string fenced(const std::string& kernel) {
  return "A kernel.\n```cuda\n" + kernel + "```\n";
}

} // namespace kernevo
