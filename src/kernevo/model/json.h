// Strict JSON of the records that cross a process or reach a user. Text in, text out: no JSON
// library type leaves model/.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/build.h"
#include "kernevo/model/comparison.h"
#include "kernevo/model/finding.h"
#include "kernevo/model/launch.h"
#include "kernevo/model/timing.h"
#include "kernevo/model/verdict.h"

#include <string>
#include <string_view>

namespace kernevo {

std::string to_json(const Build& build);
Result<Build> build_from_json(std::string_view text);

std::string to_json(const LaunchPlan& plan);
Result<LaunchPlan> launch_plan_from_json(std::string_view text);

std::string to_json(const Finding& finding);
Result<Finding> finding_from_json(std::string_view text);

std::string to_json(const Timing& timing);
Result<Timing> timing_from_json(std::string_view text);

std::string to_json(const Comparison& comparison);
Result<Comparison> comparison_from_json(std::string_view text);

std::string to_json(const Verdict& verdict);
Result<Verdict> verdict_from_json(std::string_view text);

std::string to_json(const Error& error);
Result<Error> error_from_json(std::string_view text);

} // namespace kernevo
