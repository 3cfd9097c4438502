// The names of the models an endpoint serves.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::llm {

// From the answer to GET /models. Nothing when it is no list of names, or an empty one.
std::optional<std::vector<std::string>> parse_model_list(std::string_view body);

// Names may stand in the list with a folder before or a variant behind them.
bool lists_model(const std::vector<std::string>& names, std::string_view model);

} // namespace kernevo::llm
