// Parts of timings as parts of larger JSON records. Include only from .cpp files.
#pragma once

#include "kernevo/model/json_fields.h"
#include "kernevo/model/timing.h"

#include <vector>

namespace kernevo {

// ["64x64", 1.5, 1.2, 1.8] each, for records that hold many.
Json shape_times_to_json(const std::vector<ShapeTime>& shapes);
// Throws the library's exceptions.
std::vector<ShapeTime> shape_times_of(const Json& json);

} // namespace kernevo
