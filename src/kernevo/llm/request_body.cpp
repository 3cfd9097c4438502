#include "kernevo/llm/request_body.h"

#include "kernevo/llm/json_text.h"

namespace kernevo::llm {

std::string request_body(const ModelSettings& model, const Messages& messages,
                         std::uint64_t max_tokens, const Quirks& quirks) {
  Json list = Json::array();
  for (const Message& message : messages)
    list.push_back({{"role", name_of(message.role)}, {"content", message.text}});
  Json json{{"model", model.name}, {"messages", std::move(list)}};
  json[quirks.completion_limit ? "max_completion_tokens" : "max_tokens"] = max_tokens;
  if (model.temperature && quirks.temperature)
    json["temperature"] = *model.temperature;
  if (model.top_p && quirks.top_p)
    json["top_p"] = *model.top_p;
  if (model.seed && quirks.seed)
    json["seed"] = *model.seed;
  if (!model.reasoning_effort.empty() && quirks.reasoning == ReasoningForm::effort)
    json["reasoning_effort"] = model.reasoning_effort;
  if (!model.reasoning_effort.empty() && quirks.reasoning == ReasoningForm::object)
    json["reasoning"] = {{"effort", model.reasoning_effort}};
  if (quirks.stream)
    json["stream"] = true;
  if (quirks.stream && quirks.stream_options)
    json["stream_options"] = {{"include_usage", true}};
  return dump_text(json);
}

} // namespace kernevo::llm
