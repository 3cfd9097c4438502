// The rules themselves; everyone else finds them by name in stopping_rule.h.
#pragma once

#include "kernevo/timing/stopping_rule.h"

namespace kernevo {

std::unique_ptr<StoppingRule> make_median_interval_rule(const RuleParameters& parameters);
std::unique_ptr<StoppingRule> make_bootstrap_rule(const RuleParameters& parameters);
std::unique_ptr<StoppingRule> make_relative_noise_rule(const RuleParameters& parameters);
std::unique_ptr<StoppingRule> make_entropy_rule(const RuleParameters& parameters);
std::unique_ptr<StoppingRule> make_sample_count_rule(const RuleParameters& parameters);

} // namespace kernevo
