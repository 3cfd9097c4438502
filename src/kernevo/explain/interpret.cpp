#include "kernevo/explain/interpret.h"

#include "kernevo/explain/message.h"

#include <algorithm>

namespace kernevo {
namespace {

BottleneckFinding finding_of(const Rule& rule, const Metrics& metrics,
                             const MetricExpression::Lookup& lookup) {
  BottleneckFinding finding;
  finding.tag = rule.tag;
  finding.severity = std::clamp(rule.severity.value(lookup).value_or(0), 0.0, 1.0);
  finding.message = fill_message(rule.message, metrics);
  finding.reason = rule.reason;
  for (const std::string& name : rule.evidence)
    if (const auto value = metrics.find(name))
      finding.evidence.push_back({name, *value, std::string(find_metric(name)->unit),
                                  rule.when.threshold_of(name, lookup),
                                  source_text(metrics.sources(name))});
  std::vector<RuleComparison> ignored;
  for (const RuleDirection& direction : rule.directions)
    if (!direction.when || direction.when->holds(lookup, ignored))
      finding.directions.push_back(direction.direction);
  return finding;
}

} // namespace

Result<Bottleneck> interpret(const std::string& kernel, const Metrics& metrics,
                             const std::vector<Rule>& rules) {
  Bottleneck bottleneck;
  bottleneck.kernel = kernel;
  for (const Rule& rule : rules) {
    const MetricExpression::Lookup lookup = [&](const std::string& name) -> std::optional<double> {
      const auto threshold = rule.thresholds.find(name);
      return threshold != rule.thresholds.end() ? threshold->second : metrics.find(name);
    };
    RuleTrace trace;
    trace.tag = rule.tag;
    trace.condition = rule.when.text();
    trace.fired = rule.when.holds(lookup, trace.comparisons);
    if (trace.fired)
      bottleneck.findings.push_back(finding_of(rule, metrics, lookup));
    bottleneck.trace.push_back(std::move(trace));
  }
  return make_bottleneck(std::move(bottleneck));
}

} // namespace kernevo
