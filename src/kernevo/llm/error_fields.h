// Include only from .cpp files.
#pragma once

#include "kernevo/llm/error_body.h"
#include "kernevo/llm/json_text.h"

namespace kernevo::llm {

// From an object that is, or has inside, an error.
ErrorBody error_of(const Json& json);

} // namespace kernevo::llm
