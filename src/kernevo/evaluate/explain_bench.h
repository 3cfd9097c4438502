// Why every launch of a timed kernel takes as long as it does.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/explain/explain.h"

#include <vector>

namespace kernevo {

// For each case of the result, in its order, an explanation of each launch. The result has no
// fault.
Result<std::vector<std::vector<Explanation>>>
explain_bench(const Task& task, const BenchResult& result, const std::vector<Rule>& rules);

} // namespace kernevo
