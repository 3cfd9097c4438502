// Metrics and rules -> what holds the launch back.
#pragma once

#include "kernevo/explain/metrics.h"
#include "kernevo/explain/rules.h"
#include "kernevo/model/bottleneck.h"

#include <string>
#include <vector>

namespace kernevo {

Result<Bottleneck> interpret(const std::string& kernel, const Metrics& metrics,
                             const std::vector<Rule>& rules);

} // namespace kernevo
