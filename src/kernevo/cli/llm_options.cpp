#include "kernevo/cli/llm_options.h"

#include "kernevo/cli/models_file.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace kernevo::cli {
namespace {

constexpr const char* kOpenRouter = "https://openrouter.ai/api/v1";

tl::unexpected<Error> wrong(const std::string& text, const std::string& fix) {
  return fail(ErrorCode::usage, text, std::nullopt, fix);
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string base_url_of(const LlmOptions& options) {
  if (!options.base_url.empty())
    return options.base_url;
  const std::string given = from_environment("OPENAI_BASE_URL");
  return given.empty() ? kOpenRouter : given;
}

bool is_local(const std::string& url) {
  for (const char* host : {"//127.", "//localhost", "//[::1]", "//0.0.0.0"})
    if (url.find(host) != std::string::npos)
      return true;
  return false;
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
    return wrong(fmt::format("--price {} is no price", text),
                 "write dollars for a million tokens: IN,OUT or IN,OUT,CACHED");
  return ModelPrice{numbers[0], numbers[1], count > 2 ? std::optional(numbers[2]) : std::nullopt};
}

Result<ModelSettings> model_of(const std::string& text, const LlmOptions& options) {
  ModelSettings model;
  model.name = text;
  if (const std::size_t sign = text.rfind('='); sign != std::string::npos) {
    model.name = text.substr(0, sign);
    char* end = nullptr;
    model.weight = std::strtod(text.c_str() + sign + 1, &end);
    if (*end != '\0' || sign + 1 == text.size() || !(model.weight > 0) ||
        !std::isfinite(model.weight))
      return wrong(fmt::format("--model {}: the weight is no number above 0", text),
                   "write --model NAME=2");
  }
  if (model.name.empty())
    return wrong("--model has no name", "write --model NAME");
  model.base_url = base_url_of(options);
  model.api_key_env = options.api_key_env.value_or(default_key_variable(model.base_url));
  model.max_tokens = options.max_tokens;
  model.temperature = options.temperature;
  model.top_p = options.top_p;
  model.reasoning_effort = options.reasoning_effort;
  if (!options.price.empty()) {
    KERNEVO_TRY(price, price_of(options.price));
    model.price = price;
  }
  return model;
}

} // namespace

const std::set<std::string> kLlmOptionsWhenResumed = {"--base-url", "--api-key-env",
                                                      "--llm-replay"};

std::string default_key_variable(const std::string& base_url) {
  // A key goes to nobody but who gave it out.
  if (base_url.find("openrouter.ai") != std::string::npos)
    return "OPENROUTER_API_KEY";
  // Servers of one's own seldom want a key.
  if (is_local(base_url))
    return "";
  return "OPENAI_API_KEY";
}

void add_llm_options(CLI::App& command, LlmOptions& o) {
  const char* group = "Language models";
  LlmSettings& s = o.settings;
  const auto add = [&](CLI::Option* option) { return option->group(group); };
  add(command.add_option("--model", o.models,
                         "Model to ask, NAME or NAME=WEIGHT; several: the bandit decides by gain "
                         "per cost"))
      ->allow_extra_args(false);
  add(command.add_option(
      "--base-url", o.base_url,
      "OpenAI-compatible endpoint (default: $OPENAI_BASE_URL, else OpenRouter)"));
  add(command.add_option(
      "--api-key-env", o.api_key_env,
      "Name of the environment variable that holds the key (default: "
      "OPENROUTER_API_KEY for OpenRouter, else OPENAI_API_KEY; none for a local one)"));
  add(command.add_option("--models", o.models_file,
                         "YAML file with several models, endpoints, weights and prices"));
  add(command.add_option("--max-tokens", o.max_tokens, "Longest reply, reasoning included"))
      ->capture_default_str()
      ->check(CLI::Range(16, 10'000'000));
  add(command.add_option("--temperature", o.temperature, "Sent only if given"))
      ->check(CLI::Range(0.0, 2.0));
  add(command.add_option("--top-p", o.top_p, "Sent only if given"))->check(CLI::Range(0.0, 1.0));
  add(command.add_option("--reasoning-effort", o.reasoning_effort,
                         "low, medium, high; sent only if given"));
  add(command.add_option("--price", o.price,
                         "Dollars for a million tokens, IN,OUT[,CACHED], where the endpoint does "
                         "not say what a call cost"));
  add(command.add_flag("--cheap", o.cheap,
                       "One call a candidate, and its repairs: no plan, insights or lineage"));
  add(command.add_flag("--no-plan", o.no_plan, "No planning call before a kernel is written"));
  add(command.add_flag("--no-insights", o.no_insights, "No call about what a candidate teaches"));
  add(command.add_flag("--no-lineage", o.no_lineage, "No call about what a change did"));
  add(command.add_option("--repairs", s.repairs, "Tries to mend a faulty candidate"))
      ->capture_default_str()
      ->check(CLI::Range(0, 20));
  add(command.add_option("--edits", s.edits,
                         "Changes as SEARCH/REPLACE blocks: auto (long kernels, until a model "
                         "fails at it), always, never"))
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  add(command.add_option("--prompts", s.prompts,
                         "Folder whose files stand in for prompts of the same name"))
      ->check(CLI::ExistingDirectory);
  add(command.add_option("--llm-replay", s.replay,
                         "Answer from recorded calls (a traces folder or a JSON-lines file) "
                         "instead of a network"))
      ->check(CLI::ExistingPath);
  add(command.add_option("--llm-concurrency", s.concurrency, "Calls at once"))
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  add(command.add_option("--llm-idle", s.idle_seconds,
                         "Seconds without a word after which a reply is dead"))
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add(command.add_option("--llm-timeout", s.total_seconds, "Seconds a call may take"))
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add(command.add_option("--llm-patience", s.patience_seconds,
                         "Seconds an endpoint that is down is waited for before the run stops"))
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

Result<LlmSettings> llm_settings_of(const LlmOptions& options) {
  LlmSettings settings = options.settings;
  settings.plan = !options.cheap && !options.no_plan;
  settings.insights = !options.cheap && !options.no_insights;
  settings.lineage = !options.cheap && !options.no_lineage;
  if (!options.models_file.empty()) {
    KERNEVO_TRY(models, load_models_file(options.models_file, options.max_tokens));
    settings.models = std::move(models);
  }
  for (const std::string& text : options.models) {
    KERNEVO_TRY(model, model_of(text, options));
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
    recorded.max_tokens = options.max_tokens;
    settings.models.push_back(recorded);
  }
  return settings;
}

Result<LlmSettings> resumed_llm_settings(LlmSettings stored, const LlmOptions& options) {
  if (!options.base_url.empty() || options.api_key_env)
    for (const ModelSettings& model : stored.models)
      if (model.base_url != stored.models.front().base_url)
        return wrong(
            "this run asks several endpoints, which --base-url and --api-key-env would mix",
            "resume it as it is");
  for (ModelSettings& model : stored.models) {
    if (!options.base_url.empty()) {
      model.base_url = options.base_url;
      model.api_key_env = default_key_variable(options.base_url);
    }
    if (options.api_key_env)
      model.api_key_env = *options.api_key_env;
  }
  if (!options.settings.replay.empty())
    stored.replay = options.settings.replay;
  return stored;
}

} // namespace kernevo::cli
