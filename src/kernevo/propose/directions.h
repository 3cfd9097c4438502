// Everything a proposer can be asked for: the directions of all bottleneck rules.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/bottleneck.h"
#include "kernevo/propose/proposer.h"

#include <string>
#include <vector>

namespace kernevo::propose {

// In the order of the rules, each once; without "stop", which asks for nothing.
Result<std::vector<BottleneckDirection>> load_directions();
Result<std::vector<std::string>> direction_names();

// The direction without a bottleneck behind it: the author chooses.
inline constexpr const char* kOwnIdea = "own_idea";
// What a proposer that can follow any direction offers: all of them and its own idea, without end.
Result<std::vector<Offer>> every_direction();

} // namespace kernevo::propose
