// A roofline drawn with characters.
#pragma once

#include "kernevo/explain/roofline_point.h"

#include <string>

namespace kernevo::report {

// Log-log, about 60 by 12 characters and two lines of legend; empty for a launch that moves
// nothing.
std::string roofline_sketch(const RooflinePoint& point);

} // namespace kernevo::report
