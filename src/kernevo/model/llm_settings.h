// Which models a run asks and how. No key is ever part of it: only the name of the variable of the
// environment that holds one.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// Dollars for a million tokens.
struct ModelPrice {
  double prompt = 0;
  double completion = 0;
  std::optional<double> cached; // of the prompt; absent: as the rest of it

  bool operator==(const ModelPrice&) const = default;
};

// What is absent is not sent: the endpoint's default holds.
struct ModelSettings {
  std::string name;
  std::string base_url;    // "https://openrouter.ai/api/v1"
  std::string api_key_env; // name of a variable; empty: no key is sent
  double weight = 1;       // how much it is favoured before anything is known of it
  std::uint64_t max_tokens = 8192;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::int64_t> seed;
  std::string reasoning_effort; // "low", "medium", "high"; empty: not sent
  std::optional<ModelPrice> price;

  bool operator==(const ModelSettings&) const = default;
};

struct LlmSettings {
  std::vector<ModelSettings> models; // empty: the run asks none
  bool plan = true;                  // a call that thinks before the one that writes
  bool insights = true;              // a call about each right candidate
  bool lineage = true;               // a call about what the change from its parent did
  std::uint32_t repairs = 3;         // tries to mend a faulty candidate
  std::string edits = "auto";        // "auto", "always", "never": SEARCH/REPLACE instead of files
  std::string prompts;               // folder whose files stand in for those of share/prompts
  std::string replay;                // file or folder of recorded calls that answers instead
  std::uint32_t concurrency = 4;     // calls at once
  double idle_seconds = 120;         // a stream without payload for so long is dead
  double total_seconds = 900;        // a call may take
  double patience_seconds = 300;     // an endpoint that is down is waited for

  bool operator==(const LlmSettings&) const = default;
};

std::string to_json(const LlmSettings& settings);
Result<LlmSettings> llm_settings_from_json(std::string_view text);

} // namespace kernevo
