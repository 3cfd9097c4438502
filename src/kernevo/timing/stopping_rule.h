// When has one kernel been sampled enough? A rule is a name, parameters with defaults, and two
// calls; rules are found by name in one table. Limits on samples and time are not a rule's
// business: whoever samples enforces them, so a rule that never fires cannot hang anything.
#pragma once

#include "kernevo/base/result.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

using RuleParameters = std::map<std::string, double>;

class StoppingRule {
public:
  virtual ~StoppingRule() = default;
  virtual void add(double sample) = 0;
  // May be asked after every sample; is cheap on average.
  virtual bool finished() = 0;
};

struct RuleParameter {
  std::string name;
  double value = 0; // the default
  double least = 0; // allowed values
  double most = 0;
  std::string meaning;
};

struct RuleInfo {
  std::string name;
  std::string meaning; // one line
  std::vector<RuleParameter> parameters;
  // Gets a value for each of its parameters, already checked.
  std::unique_ptr<StoppingRule> (*make)(const RuleParameters&);
};

// Every rule, the default first.
const std::vector<RuleInfo>& stopping_rules();

// Unknown names and parameters get a suggestion; absent parameters their default.
Result<std::unique_ptr<StoppingRule>> make_stopping_rule(std::string_view name,
                                                         const RuleParameters& given = {});

} // namespace kernevo
