// How far from a reference kernel's answer an honest kernel may be, element by element.
#pragma once

#include "kernevo/model/dtype.h"

#include <optional>
#include <span>
#include <vector>

namespace kernevo {

// The share of what goes into an element that it may be off where the reference's own rounding
// errors are not known.
double coarse_share(DType dtype);

// `effects`: how much each element changed when inputs were changed a little, over that change.
std::vector<float> coarse_tolerances(std::span<const double> values,
                                     std::span<const double> effects, double share);

// Of a kernel whose exact values are known. An honest one may round in other places and add up in
// another order than the reference did (`plain`): so often as a sum of `chain` terms in float32
// needs it, and a multiple of the errors that the reference itself makes there. What a half type
// loses when a result is stored is no error of the computation. Nothing when `plain` and `exact`
// are so far apart that they are not the same computation.
std::optional<std::vector<float>> fine_tolerances(std::span<const double> exact,
                                                  std::span<const double> plain,
                                                  std::span<const double> effects, double chain,
                                                  DType dtype = DType::float32);

} // namespace kernevo
