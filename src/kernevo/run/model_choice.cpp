#include "kernevo/run/model_choice.h"

#include "kernevo/run/models_file.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <set>

namespace kernevo::run {
namespace {

constexpr const char* kOpenRouter = "https://openrouter.ai/api/v1";

tl::unexpected<Error> wrong(const std::string& text, const std::string& fix) {
  return fail(ErrorCode::usage, text, std::nullopt, fix);
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string base_url_of(const ModelChoice& choice) {
  if (!choice.base_url.empty())
    return choice.base_url;
  const std::string given = from_environment("OPENAI_BASE_URL");
  return given.empty() ? kOpenRouter : given;
}

Result<ModelPrice> price_of(const std::string& text) {
  std::array<double, 3> numbers{};
  std::size_t count = 0;
  const char* at = text.c_str();
  while (count < numbers.size()) {
    char* end = nullptr;
    numbers.at(count) = std::strtod(at, &end);
    if (end == at || !std::isfinite(numbers.at(count)) || numbers.at(count) < 0)
      break;
    ++count;
    at = end;
    if (*at != ',')
      break;
    ++at;
  }
  if (*at != '\0' || count < 2)
    return wrong(fmt::format("--price {} is not a price", text),
                 "write dollars for a million tokens: IN,OUT or IN,OUT,CACHED");
  return ModelPrice{numbers[0], numbers[1], count > 2 ? std::optional(numbers[2]) : std::nullopt};
}

Result<ModelSettings> model_of(const std::string& text, const ModelChoice& choice) {
  ModelSettings model;
  model.name = text;
  if (const std::size_t sign = text.rfind('='); sign != std::string::npos) {
    model.name = text.substr(0, sign);
    char* end = nullptr;
    model.weight = std::strtod(text.c_str() + sign + 1, &end);
    if (*end != '\0' || sign + 1 == text.size() || !(model.weight > 0) ||
        !std::isfinite(model.weight))
      return wrong(fmt::format("--model {}: the weight is not a number above 0", text),
                   "write --model NAME=2");
  }
  if (model.name.empty())
    return wrong("--model has no name", "write --model NAME");
  model.base_url = base_url_of(choice);
  model.api_key_env = choice.api_key_env.value_or(default_key_variable(model.base_url));
  model.max_tokens = choice.max_tokens;
  model.temperature = choice.temperature;
  model.top_p = choice.top_p;
  model.reasoning_effort = choice.reasoning_effort;
  if (!choice.price.empty()) {
    KERNEVO_TRY(price, price_of(choice.price));
    model.price = price;
  }
  return model;
}

} // namespace

Result<LlmSettings> llm_settings_of(const ModelChoice& choice) {
  LlmSettings settings = choice.settings;
  settings.plan = !choice.cheap && !choice.no_plan;
  settings.insights = !choice.cheap && !choice.no_insights;
  settings.lineage = !choice.cheap && !choice.no_lineage;
  if (!choice.models_file.empty()) {
    KERNEVO_TRY(models, load_models_file(choice.models_file, choice.max_tokens));
    settings.models = std::move(models);
  }
  for (const std::string& text : choice.models) {
    KERNEVO_TRY(model, model_of(text, choice));
    settings.models.push_back(std::move(model));
  }
  std::set<std::string> names;
  for (const ModelSettings& model : settings.models)
    if (!names.insert(model.name).second)
      return wrong(fmt::format("model '{}' is named twice", model.name), "name each once");
  // A recording answers for any model.
  if (settings.models.empty() && !settings.replay.empty()) {
    ModelSettings recorded;
    recorded.name = "recorded";
    recorded.max_tokens = choice.max_tokens;
    settings.models.push_back(recorded);
  }
  return settings;
}

Result<LlmSettings> resumed_llm_settings(LlmSettings stored, const ModelChoice& choice) {
  if (!choice.base_url.empty() || choice.api_key_env)
    for (const ModelSettings& model : stored.models)
      if (model.base_url != stored.models.front().base_url)
        return wrong(
            "this run asks several endpoints, which --base-url and --api-key-env would mix",
            "resume it as it is");
  for (ModelSettings& model : stored.models) {
    if (!choice.base_url.empty()) {
      model.base_url = choice.base_url;
      model.api_key_env = default_key_variable(choice.base_url);
    }
    if (choice.api_key_env)
      model.api_key_env = *choice.api_key_env;
  }
  if (!choice.settings.replay.empty())
    stored.replay = choice.settings.replay;
  return stored;
}

} // namespace kernevo::run
