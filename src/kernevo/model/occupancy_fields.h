// Occupancy as a part of larger JSON records. Include only from .cpp files.
#pragma once

#include "kernevo/model/json_fields.h"
#include "kernevo/model/occupancy.h"

namespace kernevo {

Json occupancy_to_json(const Occupancy& occupancy);
// Throws the library's exceptions.
Occupancy occupancy_of(const Json& json);

} // namespace kernevo
