// A YAML file that lists models to ask:
//   - name: vendor/model
//     base_url: https://example.org/v1
//     api_key_env: EXAMPLE_KEY
//     weight: 2
//     price: {prompt: 0.5, completion: 3, cached: 0.05}   # dollars for a million tokens
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/llm_settings.h"

#include <string>
#include <vector>

namespace kernevo::run {

// Unknown keys, duplicates and wrong values are errors with file and line.
Result<std::vector<ModelSettings>> load_models_file(const std::string& path,
                                                    std::uint64_t max_tokens);

// The variable that usually holds the key of this endpoint; empty when none is wanted.
std::string default_key_variable(const std::string& base_url);

} // namespace kernevo::run
