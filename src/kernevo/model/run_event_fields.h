// Parts of a run's events as parts of larger JSON records. Include only from .cpp files.
#pragma once

#include "kernevo/model/json_fields.h"
#include "kernevo/model/run_event.h"

#include <vector>

namespace kernevo {

Json budget_to_json(const RunBudget& budget);
Json reasons_to_json(const std::vector<Reason>& reasons);
Json facts_to_json(const KernelFacts& facts);
// {"shape": "64x64", "ns": 1.5, "low": 1.2, "high": 1.8} each, for records that people read.
Json named_shape_times_to_json(const std::vector<ShapeTime>& shapes);

} // namespace kernevo
