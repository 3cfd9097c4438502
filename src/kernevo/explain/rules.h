// The rules that name bottlenecks. They are data: share/rules/*.yaml.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/explain/metric_expression.h"
#include "kernevo/model/bottleneck.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct RuleDirection {
  BottleneckDirection direction;
  std::optional<MetricExpression> when; // absent: always
};

struct Rule {
  BottleneckTag tag = BottleneckTag::dram_bound;
  std::map<std::string, double> thresholds;
  MetricExpression when;
  MetricExpression severity;
  std::string reason;
  std::string message; // a template, see message.h
  std::vector<std::string> evidence;
  std::vector<RuleDirection> directions;
  Place place;
};

// Every rule of the data folder: one for each tag, no more and no fewer.
Result<std::vector<Rule>> load_rules();
// The rules of one text; `file` names it in messages.
Result<std::vector<Rule>> parse_rules(std::string_view text, const std::string& file);

} // namespace kernevo
