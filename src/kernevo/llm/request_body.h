// The JSON of a request, as far as the endpoint is known to take it.
#pragma once

#include "kernevo/llm/chat.h"
#include "kernevo/llm/quirks.h"
#include "kernevo/model/llm_settings.h"

#include <cstdint>
#include <string>

namespace kernevo::llm {

std::string request_body(const ModelSettings& model, const Messages& messages,
                         std::uint64_t max_tokens, const Quirks& quirks);

} // namespace kernevo::llm
