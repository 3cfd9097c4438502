// What an endpoint does not take, learnt from its refusals and kept for the process. Never guessed
// from the name of a model: names change, refusals say what is the matter.
#pragma once

#include "kernevo/llm/error_body.h"
#include "kernevo/model/llm_settings.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernevo::llm {

enum class ReasoningForm { effort, object, none }; // reasoning_effort, reasoning: {effort}

struct Quirks {
  bool completion_limit = false; // max_completion_tokens instead of max_tokens
  bool temperature = true;
  bool top_p = true;
  bool seed = true;
  bool stream = true;
  bool stream_options = true;
  ReasoningForm reasoning = ReasoningForm::effort;
  std::optional<std::uint64_t> most_tokens; // the endpoint takes no larger limit

  bool operator==(const Quirks&) const = default;
};

// The quirks with which the request may pass, or nothing when the error is about something else.
// `limit` is the number of tokens that was asked for.
std::optional<Quirks> learn_from(const ErrorBody& error, const Quirks& sent,
                                 const ModelSettings& model, std::uint64_t limit);

Quirks known_quirks(const std::string& base_url, const std::string& model);
void remember_quirks(const std::string& base_url, const std::string& model, const Quirks& quirks);

} // namespace kernevo::llm
