#include "kernevo/run/models_file.h"

#include "kernevo/base/files.h"
#include "kernevo/task/yaml_fields.h"

#include <fmt/format.h>
#include <limits>

namespace kernevo::run {
namespace {

bool is_local(const std::string& url) {
  for (const char* host : {"//127.", "//localhost", "//[::1]", "//0.0.0.0"})
    if (url.find(host) != std::string::npos)
      return true;
  return false;
}

Result<std::optional<double>> number(const YamlNode& map, const char* key, double low, double high,
                                     bool above_low = false) {
  const YamlNode* node = map.find(key);
  if (node == nullptr)
    return std::optional<double>();
  KERNEVO_TRY(value, read_number(*node, {key, "", low, high, above_low}));
  return std::optional(value);
}

Result<std::string> text(const YamlNode& map, const char* key, std::string otherwise) {
  const YamlNode* node = map.find(key);
  if (node == nullptr)
    return otherwise;
  return read_text(*node, key);
}

Result<ModelPrice> price_of(const YamlNode& node) {
  KERNEVO_TRY(map, expect_map(node, "price"));
  KERNEVO_CHECK(check_keys(*map, {"prompt", "completion", "cached"}, "price"));
  KERNEVO_TRY(prompt, number(*map, "prompt", 0, 1e6));
  KERNEVO_TRY(completion, number(*map, "completion", 0, 1e6));
  KERNEVO_TRY(cached, number(*map, "cached", 0, 1e6));
  if (!prompt || !completion)
    return fail(ErrorCode::input, "a price needs 'prompt' and 'completion'", node.place,
                "give dollars for a million tokens, or leave the price out");
  return ModelPrice{*prompt, *completion, cached};
}

Result<ModelSettings> model_of(const YamlNode& node, std::uint64_t max_tokens) {
  KERNEVO_TRY(map, expect_map(node, "a model"));
  KERNEVO_CHECK(check_keys(*map,
                           {"name", "base_url", "api_key_env", "weight", "max_tokens",
                            "temperature", "top_p", "seed", "reasoning_effort", "price"},
                           "a model"));
  ModelSettings model;
  KERNEVO_TRY(name, text(*map, "name", ""));
  KERNEVO_TRY(url, text(*map, "base_url", ""));
  if (name.empty() || url.empty())
    return fail(ErrorCode::input,
                fmt::format("a model needs '{}'", name.empty() ? "name" : "base_url"), node.place,
                "add it");
  model.name = name;
  model.base_url = url;
  KERNEVO_TRY(key, text(*map, "api_key_env", default_key_variable(url)));
  model.api_key_env = key;
  KERNEVO_TRY(weight, number(*map, "weight", 0, 1e6, true));
  model.weight = weight.value_or(1);
  model.max_tokens = max_tokens;
  if (const YamlNode* most = map->find("max_tokens")) {
    KERNEVO_TRY(value, read_integer(*most, "max_tokens", 16, 10'000'000));
    model.max_tokens = static_cast<std::uint64_t>(value);
  }
  KERNEVO_TRY(temperature, number(*map, "temperature", 0, 2));
  model.temperature = temperature;
  KERNEVO_TRY(top_p, number(*map, "top_p", 0, 1));
  model.top_p = top_p;
  if (const YamlNode* seed = map->find("seed")) {
    KERNEVO_TRY(value, read_integer(*seed, "seed", 0, std::numeric_limits<std::int64_t>::max()));
    model.seed = value;
  }
  KERNEVO_TRY(effort, text(*map, "reasoning_effort", ""));
  model.reasoning_effort = effort;
  if (const YamlNode* price = map->find("price")) {
    KERNEVO_TRY(value, price_of(*price));
    model.price = value;
  }
  return model;
}

} // namespace

std::string default_key_variable(const std::string& base_url) {
  // A key goes to nobody but who gave it out.
  if (base_url.find("openrouter.ai") != std::string::npos)
    return "OPENROUTER_API_KEY";
  // Servers of one's own seldom want a key.
  if (is_local(base_url))
    return "";
  return "OPENAI_API_KEY";
}

Result<std::vector<ModelSettings>> load_models_file(const std::string& path,
                                                    std::uint64_t max_tokens) {
  KERNEVO_TRY(content, read_text_file(path));
  KERNEVO_TRY(tree, parse_yaml(content, path));
  KERNEVO_TRY(list, expect_list(*tree, "the file"));
  std::vector<ModelSettings> models;
  for (const auto& item : list->items) {
    KERNEVO_TRY(model, model_of(*item, max_tokens));
    models.push_back(std::move(model));
  }
  if (models.empty())
    return fail(ErrorCode::input, "lists no model", Place{path}, "add '- name: ...'");
  return models;
}

} // namespace kernevo::run
