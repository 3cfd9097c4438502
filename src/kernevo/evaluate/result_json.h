// Results of checks and benches as strict JSON, for whoever runs them in another process.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/check.h"

#include <string>
#include <string_view>

namespace kernevo {

std::string to_json(const CheckResult& result);
Result<CheckResult> check_result_from_json(std::string_view text);

// Without the machine instructions of the launches (LaunchBench::work), which are found again from
// the build.
std::string to_json(const BenchResult& result);
Result<BenchResult> bench_result_from_json(std::string_view text);

} // namespace kernevo
