#pragma once

#include "kernevo/toolchain/toolchain.h"

#include <vector>

namespace kernevo {

// What the toolchain can compile for, ascending: 75, 80, ...
std::vector<int> known_architectures(const Toolchain& toolchain);

// Empty when this architecture ("sm_90a") can be compiled for; otherwise why not.
std::string architecture_problem(const Toolchain& toolchain, const std::string& architecture);

} // namespace kernevo
