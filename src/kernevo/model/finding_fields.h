// A bottleneck's finding as a part of larger JSON records. Include only from .cpp files.
#pragma once

#include "kernevo/model/bottleneck.h"
#include "kernevo/model/json_fields.h"

namespace kernevo {

Json finding_to_json(const BottleneckFinding& finding);
// Throws the library's exceptions.
BottleneckFinding finding_of(const Json& json);

} // namespace kernevo
