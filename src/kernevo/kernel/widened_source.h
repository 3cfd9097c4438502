// A kernel that computes in float64 what another computes in float32, float16 or bfloat16, to know
// its rounding errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernevo {

// Every `float` and half of the source is a double and every function on them one on doubles;
// literals keep their float values. Functions that are only ever approximated (exp, tanh, a
// reciprocal) have arguments and results changed by the factor 1 + noise or 1 - noise, by chance:
// what that does to an output says how much a faster exp may cost it. Nothing where the source
// looks at the bits of floats, or at anything else that a wider type would change.
std::optional<std::string> widened_source(std::string_view source, double noise);

// Whether threads of a block exchange values other than through shared memory and atomics.
bool exchanges_in_warps(std::string_view source);

} // namespace kernevo
