#include "kernevo/model/model_call.h"

#include "kernevo/model/json_fields.h"

namespace kernevo {
namespace {

Json usage_to_json(const TokenUsage& usage) {
  return {{"prompt", usage.prompt},
          {"cached", usage.cached},
          {"completion", usage.completion},
          {"reasoning", usage.reasoning},
          {"estimated", usage.estimated}};
}

TokenUsage usage_of(const Json& json) {
  only_keys(json, {"prompt", "cached", "completion", "reasoning", "estimated"});
  return {json.at("prompt"), json.at("cached"), json.at("completion"), json.at("reasoning"),
          json.at("estimated")};
}

ModelCall call_of(const Json& json) {
  only_keys(json,
            {"step", "id", "stage", "model", "usage", "dollars", "seconds", "tries", "finish"});
  ModelCall call;
  call.step = json.at("step");
  call.id = json.at("id");
  call.stage = json.at("stage");
  call.model = json.at("model");
  call.usage = usage_of(json.at("usage"));
  call.dollars = get_optional<double>(json, "dollars");
  call.seconds = json.at("seconds");
  call.tries = json.at("tries");
  call.finish = json.at("finish");
  return call;
}

} // namespace

TokenUsage& TokenUsage::operator+=(const TokenUsage& other) {
  prompt += other.prompt;
  cached += other.cached;
  completion += other.completion;
  reasoning += other.reasoning;
  estimated = estimated || other.estimated;
  return *this;
}

std::string to_json(const ModelCall& call) {
  Json json{{"step", call.step},
            {"id", call.id},
            {"stage", call.stage},
            {"model", call.model},
            {"usage", usage_to_json(call.usage)},
            {"seconds", call.seconds},
            {"tries", call.tries},
            {"finish", call.finish}};
  put_optional(json, "dollars", call.dollars);
  return dump_json(json);
}

Result<ModelCall> model_call_from_json(std::string_view text) {
  return read_json(text, "model call", call_of);
}

} // namespace kernevo
