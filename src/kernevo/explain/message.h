// One-sentence templates: "{share.dram} of the time ..." with metrics and facts put in.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/explain/metrics.h"

#include <string>

namespace kernevo {

// Every name in braces must be a metric or a fact.
Result<void> check_message(const std::string& text, const Place& place);
// What the launch does not have is written as "an unknown ..." so that a gap shows.
std::string fill_message(const std::string& text, const Metrics& metrics);

} // namespace kernevo
