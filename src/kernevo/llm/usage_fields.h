// The forms in which endpoints count tokens. Include only from .cpp files.
#pragma once

#include "kernevo/llm/json_text.h"
#include "kernevo/model/model_call.h"

namespace kernevo::llm {

// Nothing when it says nothing: null, or zeros.
std::optional<TokenUsage> usage_of(const Json& usage);
std::optional<double> cost_of(const Json& usage);

} // namespace kernevo::llm
