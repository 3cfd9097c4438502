#include "kernevo/base/suggest.h"
#include "kernevo/timing/stopping_rule.h"
#include "kernevo/timing/stopping_rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {
namespace {

Result<void> check_name(const RuleInfo& rule, const std::string& parameter) {
  std::vector<std::string> known;
  for (const RuleParameter& one : rule.parameters)
    known.push_back(one.name);
  if (std::ranges::find(known, parameter) != known.end())
    return {};
  return fail(ErrorCode::usage, fmt::format("stopping rule '{}' has no parameter '{}'{}", rule.name,
                                            parameter, did_you_mean(parameter, known)));
}

} // namespace

const std::vector<RuleInfo>& stopping_rules() {
  static const std::vector<RuleInfo> rules = {
      {"median_interval",
       "the interval of the median, widened for dependent samples, is narrow",
       {{"width", 0.005, 1e-6, 1, "half of the interval / median"},
        {"confidence", 0.95, 0.5, 0.9999, "of the interval"}},
       make_median_interval_rule},
      {"bootstrap",
       "the same by resampling stretches of the series",
       {{"width", 0.005, 1e-6, 1, "half of the interval / median"},
        {"confidence", 0.95, 0.5, 0.9999, "of the interval"},
        {"resamples", 200, 20, 100000, "medians drawn at a look"},
        {"seed", 1, 0, 1e15, "of the draws"}},
       make_bootstrap_rule},
      {"relative_noise",
       "standard deviation / mean is small, or is itself no longer changing",
       {{"noise", 0.005, 1e-6, 1, "standard deviation / mean that is small enough"},
        {"stability", 0.05, 1e-6, 1, "relative range of the recent noise that counts as unchanged"},
        {"window", 64, 4, 10000, "recent noise figures that are looked at"}},
       make_relative_noise_rule},
      {"entropy",
       "the entropy of the values seen has stopped growing",
       {{"slope", 0.0005, 1e-9, 1, "bits a sample that count as flat"},
        {"bin", 0.002, 1e-6, 1, "relative width within which values count as equal"},
        {"window", 64, 8, 10000, "samples over which the slope is fitted"}},
       make_entropy_rule},
      {"sample_count",
       "a fixed number of samples",
       {{"samples", 100, 1, 1e9, "how many"}},
       make_sample_count_rule},
  };
  return rules;
}

Result<std::unique_ptr<StoppingRule>> make_stopping_rule(std::string_view name,
                                                         const RuleParameters& given) {
  const auto& rules = stopping_rules();
  const auto rule = std::ranges::find(rules, name, &RuleInfo::name);
  if (rule == rules.end()) {
    std::vector<std::string> known;
    for (const RuleInfo& one : rules)
      known.push_back(one.name);
    return fail(ErrorCode::usage,
                fmt::format("there is no stopping rule '{}'{}", name, did_you_mean(name, known)),
                std::nullopt, fmt::format("it is one of {}", fmt::join(known, ", ")));
  }
  for (const auto& [parameter, value] : given)
    KERNEVO_CHECK(check_name(*rule, parameter));
  RuleParameters values;
  for (const RuleParameter& parameter : rule->parameters) {
    const auto found = given.find(parameter.name);
    const double value = found == given.end() ? parameter.value : found->second;
    if (!(value >= parameter.least && value <= parameter.most))
      return fail(ErrorCode::usage,
                  fmt::format("{} = {} of stopping rule '{}' ({}); it must be {} to {}",
                              parameter.name, value, rule->name, parameter.meaning, parameter.least,
                              parameter.most));
    values[parameter.name] = value;
  }
  return rule->make(values);
}

} // namespace kernevo
