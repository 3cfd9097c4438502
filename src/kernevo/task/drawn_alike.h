// Shapes like the given ones, for tasks that say themselves which shapes a kernel must take.
#pragma once

#include "kernevo/model/task.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace kernevo {

// Completes and judges a shape: false for one that cannot be or costs too much.
using ShapeFilter = std::function<bool(Dims&)>;

// Shapes that share what all given ones have in common, with sizes that none of them has. Sizes
// that keep a ratio in all of them keep it. `independent`: other sizes may be combined freely;
// else nothing is drawn when more than one of them changes, for nobody knows how they are tied.
std::vector<Dims> draw_alike(const std::vector<Dims>& given, bool independent,
                             const ShapeFilter& accept, std::uint64_t seed);

} // namespace kernevo
