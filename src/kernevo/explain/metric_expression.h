// Conditions and figures over named metrics, as rules write them: numbers, metrics
// ("share.dram"), + - * /, min(), max(), comparisons, && and ||.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/bottleneck.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

class MetricExpression {
public:
  enum class Kind { condition, number };
  // The value of a name; absent where the launch has no such figure.
  using Lookup = std::function<std::optional<double>(const std::string&)>;

  // `known` are the names that may be used. `place` is where the text stands.
  static Result<MetricExpression> parse(std::string_view text, Kind kind,
                                        const std::vector<std::string>& known, const Place& place);

  // Of a number: absent when a figure it needs is, or when it divides by zero.
  std::optional<double> value(const Lookup& lookup) const;
  // Of a condition: a comparison with an absent side does not hold. Every comparison is evaluated
  // and written to the trace.
  bool holds(const Lookup& lookup, std::vector<RuleComparison>& trace) const;
  // The right side of the comparison whose left side is this name alone.
  std::optional<double> threshold_of(const std::string& name, const Lookup& lookup) const;

  const std::string& text() const { return text_; }
  std::set<std::string> names() const;

  struct Node;

private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

} // namespace kernevo
