// Shapes that nobody has seen: made up anew for every check, so that knowing those of an earlier
// one is worth nothing.
#pragma once

#include "kernevo/model/task.h"

#include <cstdint>
#include <vector>

namespace kernevo {

// Of an operation of the catalogue one shape or more of every class: all sizes 1, primes, below a
// tile, not a multiple of a vector, beside a multiple of a tile while the others are multiples, one
// size 1, one size large and the others thin. The seed decides which member of its class a size is,
// never which classes there are, so that a kernel which is wrong on a class is found out by every
// seed. Attributes and kept sizes are those of the task's shapes in turn.
//
// A task that lists its check shapes, and one of its own, promises more of its sizes than the
// operation does. Theirs have all in common that the listed and the real ones have: divisors,
// ratios, order, range (drawn_alike.h). There may be none. A task with an empty list has none.
std::vector<ShapeCase> draw_shapes(const Task& task, std::uint64_t seed);

} // namespace kernevo
