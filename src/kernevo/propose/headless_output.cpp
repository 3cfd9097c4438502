#include "kernevo/propose/headless_output.h"

#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <cmath>

namespace kernevo::propose {
namespace {

// Nothing here trusts a type: these are messages of programs that change without notice.
const Json* member(const Json& object, const char* name) {
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> text_in(const Json& object, const char* name) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_string() ? std::optional(value->get<std::string>())
                                                : std::nullopt;
}

std::optional<double> number_in(const Json& object, const char* name) {
  const Json* value = member(object, name);
  if (value == nullptr || !value->is_number())
    return std::nullopt;
  const auto number = value->get<double>();
  return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

std::uint64_t count_in(const Json& object, const char* name) {
  constexpr double most = 1e15;
  return static_cast<std::uint64_t>(std::min(most, number_in(object, name).value_or(0)));
}

bool is_true(const Json& object, const char* name) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

// "input_tokens" and the like; those read from a cache stand beside them or are part of them.
TokenUsage usage_of(const Json& usage) {
  TokenUsage sum;
  const std::uint64_t beside = count_in(usage, "cache_read_input_tokens");
  const std::uint64_t part = count_in(usage, "cached_input_tokens");
  sum.cached = beside + part;
  sum.prompt =
      count_in(usage, "input_tokens") + beside + count_in(usage, "cache_creation_input_tokens");
  sum.completion = count_in(usage, "output_tokens");
  sum.reasoning = count_in(usage, "reasoning_output_tokens");
  return sum;
}

std::string first_name(const Json* object) {
  return object != nullptr && object->is_object() && !object->empty() ? object->begin().key() : "";
}

// {"result": "...", "is_error": false, "total_cost_usd": 0.1, "usage": {...}, "modelUsage": {...}}
std::optional<HeadlessOutput> read_result(const Json& json) {
  const auto text = text_in(json, "result");
  if (!text && !is_true(json, "is_error"))
    return std::nullopt;
  HeadlessOutput output;
  output.text = text.value_or("");
  output.dollars = number_in(json, "total_cost_usd");
  output.model = first_name(member(json, "modelUsage"));
  if (const Json* usage = member(json, "usage"))
    output.usage = usage_of(*usage);
  else
    output.usage.estimated = true;
  if (is_true(json, "is_error"))
    output.failure =
        output.text.empty() ? text_in(json, "subtype").value_or("it failed") : output.text;
  return output;
}

// {"response": "...", "stats": {"models": {"name": {"tokens": {"prompt": 1, ...}}}}}
std::optional<HeadlessOutput> read_response(const Json& json) {
  const auto text = text_in(json, "response");
  const Json* error = member(json, "error");
  if (!text && (error == nullptr || !error->is_object()))
    return std::nullopt;
  HeadlessOutput output;
  output.text = text.value_or("");
  if (error != nullptr)
    output.failure = text_in(*error, "message").value_or("it failed");
  const Json* stats = member(json, "stats");
  const Json* models = stats == nullptr ? nullptr : member(*stats, "models");
  output.model = first_name(models);
  output.usage.estimated = models == nullptr || !models->is_object();
  if (output.usage.estimated)
    return output;
  for (const auto& model : models->items())
    if (const Json* tokens = member(model.value(), "tokens")) {
      TokenUsage one;
      one.prompt = count_in(*tokens, "prompt");
      one.cached = count_in(*tokens, "cached");
      one.reasoning = count_in(*tokens, "thoughts");
      one.completion = count_in(*tokens, "candidates") + one.reasoning;
      output.usage += one;
    }
  return output;
}

// One event of a stream of them: the last message counts, usage adds up, a result ends it.
bool take_event(const Json& event, HeadlessOutput& output) {
  const std::string type = text_in(event, "type").value_or("");
  if (type == "result") {
    if (auto result = read_result(event))
      output = std::move(*result);
    return true;
  }
  if (type == "item.completed") {
    const Json* item = member(event, "item");
    if (item != nullptr && text_in(*item, "type") == "agent_message")
      output.text = text_in(*item, "text").value_or(output.text);
    return true;
  }
  if (type == "turn.completed") {
    if (const Json* usage = member(event, "usage")) {
      output.usage += usage_of(*usage);
      output.usage.estimated = false;
    }
    return true;
  }
  if (type == "turn.failed") {
    const Json* error = member(event, "error");
    output.failure = error == nullptr ? std::nullopt : text_in(*error, "message");
    if (!output.failure)
      output.failure = "it failed";
    return true;
  }
  if (const Json* message = member(event, "msg")) {
    if (text_in(*message, "type") == "agent_message")
      output.text = text_in(*message, "message").value_or(output.text);
    return true;
  }
  return !type.empty();
}

// Every line an event, or it is none.
std::optional<HeadlessOutput> read_events(std::string_view printed) {
  HeadlessOutput output;
  output.usage.estimated = true;
  bool any = false;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    const std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    const Json event = Json::parse(line, nullptr, false);
    if (!event.is_object() || !take_event(event, output))
      return std::nullopt;
    any = true;
  }
  return any ? std::optional(std::move(output)) : std::nullopt;
}

} // namespace

HeadlessOutput read_headless_output(std::string_view printed) {
  const std::size_t begin = printed.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && printed[begin] == '{') {
    const Json json = Json::parse(printed, nullptr, false);
    if (json.is_object()) {
      if (auto output = read_result(json))
        return std::move(*output);
      if (auto output = read_response(json))
        return std::move(*output);
    }
    if (auto output = read_events(printed))
      return std::move(*output);
  }
  HeadlessOutput plain;
  plain.text = std::string(printed);
  plain.usage.estimated = true;
  return plain;
}

} // namespace kernevo::propose
