// The options of a command that asks language models.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/llm_settings.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kernevo::cli {

struct LlmOptions {
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

void add_llm_options(CLI::App& command, LlmOptions& options);

// Of these a resumed run takes new ones: an endpoint may have moved.
extern const std::set<std::string> kLlmOptionsWhenResumed;

// Errors name the option or the line of the models file.
Result<LlmSettings> llm_settings_of(const LlmOptions& options);

// The settings of a run that goes on, with what was given anew.
Result<LlmSettings> resumed_llm_settings(LlmSettings stored, const LlmOptions& options);

} // namespace kernevo::cli
