// Everything a proposer can be asked for: the directions of all bottleneck rules.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/bottleneck.h"

#include <string>
#include <vector>

namespace kernevo::propose {

// In the order of the rules, each once; without "stop", which asks for nothing.
Result<std::vector<BottleneckDirection>> load_directions();
Result<std::vector<std::string>> direction_names();

} // namespace kernevo::propose
