#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// " (did you mean 'x'?)" for the known name nearest to the given one, or "" when none is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

} // namespace kernevo
