// The key of an endpoint: from the environment alone.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/llm_settings.h"

namespace kernevo::llm {

// Empty when the model's settings name no variable.
Result<std::string> key_of(const ModelSettings& model);

// Without a slash at the end, and without the path of a call somebody copied along.
Result<std::string> base_url_of(const ModelSettings& model);

} // namespace kernevo::llm
