// Which models a run asks and how, as a user says it.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/llm_settings.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::run {

struct ModelChoice {
  std::vector<std::string> models; // NAME or NAME=WEIGHT
  std::string models_file;
  std::string base_url;
  std::optional<std::string> api_key_env;
  std::uint64_t max_tokens = 8192;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::string reasoning_effort;
  std::string price; // IN,OUT or IN,OUT,CACHED dollars for a million tokens
  bool cheap = false;
  bool no_plan = false;
  bool no_insights = false;
  bool no_lineage = false;
  LlmSettings settings; // the rest
};

// Errors name the option or the line of the models file.
Result<LlmSettings> llm_settings_of(const ModelChoice& choice);

// The settings of a run that goes on, with what was given anew.
Result<LlmSettings> resumed_llm_settings(LlmSettings stored, const ModelChoice& choice);

} // namespace kernevo::run
