#include "kernevo/cli/llm_options.h"

#include "kernevo/cli/command_line.h"
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace kernevo::cli {
const std::set<std::string> kLlmOptionsWhenResumed = {"--base-url", "--api-key-env",
                                                      "--llm-replay"};

void add_llm_options(CommandLine& command, run::ModelChoice& o) {
  const char* group = "Language models";
  LlmSettings& s = o.settings;
  const auto add = [&](Option* option) { return option->group(group); };
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
      ->in_range(16, 10'000'000);
  add(command.add_option("--temperature", o.temperature, "Sent only if given"))->in_range(0.0, 2.0);
  add(command.add_option("--top-p", o.top_p, "Sent only if given"))->in_range(0.0, 1.0);
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
      ->in_range(0, 20);
  add(command.add_option("--edits", s.edits,
                         "Changes as SEARCH/REPLACE blocks: auto (long kernels, until a model "
                         "fails at it), always, never"))
      ->capture_default_str()
      ->one_of({"auto", "always", "never"});
  add(command.add_option("--prompts", s.prompts,
                         "Folder whose files stand in for prompts of the same name"))
      ->check(Check::existing_folder);
  add(command.add_option("--llm-replay", s.replay,
                         "Answer from recorded calls (a traces folder or a JSON-lines file) "
                         "instead of a network"))
      ->check(Check::existing_path);
  add(command.add_option("--llm-concurrency", s.concurrency, "Calls at once"))
      ->capture_default_str()
      ->in_range(1, 64);
  add(command.add_option("--llm-idle", s.idle_seconds,
                         "Seconds without a word after which a reply is dead"))
      ->capture_default_str()
      ->check(Check::positive);
  add(command.add_option("--llm-timeout", s.total_seconds, "Seconds a call may take"))
      ->capture_default_str()
      ->check(Check::positive);
  add(command.add_option("--llm-patience", s.patience_seconds,
                         "Seconds an endpoint that is down is waited for before the run stops"))
      ->capture_default_str()
      ->check(Check::not_negative);
}

} // namespace kernevo::cli
