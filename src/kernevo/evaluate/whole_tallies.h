// What each block did when a check ran the real shapes whole: whoever times the kernel next need
// not run them again.
#pragma once

#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/model/block_tally.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernevo {

using LaunchTallies = std::vector<std::vector<BlockTally>>; // one list per launch
using WholeTallies = std::map<std::string, LaunchTallies>;  // by id of the shape

// Of the inputs on which a check of this seed runs a shape first.
inline std::uint64_t timed_inputs_seed(std::uint64_t check_seed, const std::string& shape) {
  return derived_seed(check_seed, "timed " + shape);
}

} // namespace kernevo
