#include "kernevo/model/llm_settings.h"

#include "kernevo/model/json_fields.h"

namespace kernevo {
namespace {

Json price_to_json(const ModelPrice& price) {
  Json json{{"prompt", price.prompt}, {"completion", price.completion}};
  put_optional(json, "cached", price.cached);
  return json;
}

ModelPrice price_of(const Json& json) {
  only_keys(json, {"prompt", "completion", "cached"});
  return {json.at("prompt"), json.at("completion"), get_optional<double>(json, "cached")};
}

Json model_to_json(const ModelSettings& model) {
  Json json{{"name", model.name},
            {"base_url", model.base_url},
            {"api_key_env", model.api_key_env},
            {"weight", model.weight},
            {"max_tokens", model.max_tokens},
            {"reasoning_effort", model.reasoning_effort}};
  put_optional(json, "temperature", model.temperature);
  put_optional(json, "top_p", model.top_p);
  put_optional(json, "seed", model.seed);
  json["price"] = model.price ? price_to_json(*model.price) : Json(nullptr);
  return json;
}

ModelSettings model_of(const Json& json) {
  only_keys(json, {"name", "base_url", "api_key_env", "weight", "max_tokens", "temperature",
                   "top_p", "seed", "reasoning_effort", "price"});
  ModelSettings model;
  model.name = json.at("name");
  model.base_url = json.at("base_url");
  model.api_key_env = json.at("api_key_env");
  model.weight = json.at("weight");
  model.max_tokens = json.at("max_tokens");
  model.temperature = get_optional<double>(json, "temperature");
  model.top_p = get_optional<double>(json, "top_p");
  model.seed = get_optional<std::int64_t>(json, "seed");
  model.reasoning_effort = json.at("reasoning_effort");
  if (const auto price = json.find("price"); price != json.end() && !price->is_null())
    model.price = price_of(*price);
  return model;
}

LlmSettings settings_of(const Json& json) {
  only_keys(json, {"models", "plan", "insights", "lineage", "repairs", "edits", "prompts", "replay",
                   "concurrency", "idle_seconds", "total_seconds", "patience_seconds"});
  LlmSettings settings;
  for (const Json& model : list_at(json, "models"))
    settings.models.push_back(model_of(model));
  settings.plan = json.at("plan");
  settings.insights = json.at("insights");
  settings.lineage = json.at("lineage");
  settings.repairs = json.at("repairs");
  settings.edits = json.at("edits");
  settings.prompts = json.at("prompts");
  settings.replay = json.at("replay");
  settings.concurrency = json.at("concurrency");
  settings.idle_seconds = json.at("idle_seconds");
  settings.total_seconds = json.at("total_seconds");
  settings.patience_seconds = json.at("patience_seconds");
  return settings;
}

} // namespace

std::string to_json(const LlmSettings& settings) {
  Json models = Json::array();
  for (const ModelSettings& model : settings.models)
    models.push_back(model_to_json(model));
  const Json json{{"models", std::move(models)},
                  {"plan", settings.plan},
                  {"insights", settings.insights},
                  {"lineage", settings.lineage},
                  {"repairs", settings.repairs},
                  {"edits", settings.edits},
                  {"prompts", settings.prompts},
                  {"replay", settings.replay},
                  {"concurrency", settings.concurrency},
                  {"idle_seconds", settings.idle_seconds},
                  {"total_seconds", settings.total_seconds},
                  {"patience_seconds", settings.patience_seconds}};
  return dump_json(json);
}

Result<LlmSettings> llm_settings_from_json(std::string_view text) {
  return read_json(text, "settings of models", settings_of);
}

} // namespace kernevo
