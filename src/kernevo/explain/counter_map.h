// What counters of a real GPU say of the metrics rules speak of. It is data: share/counters/*.yaml.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/explain/metric_expression.h"
#include "kernevo/model/counter_readings.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// What a figure over metrics may use beside them: the time of all launches of the shape, and the
// least that the roofline allows.
inline constexpr std::string_view kPlanTime = "plan.time";
inline constexpr std::string_view kPlanLeast = "plan.least";

// Where a metric that counters say nothing of comes from.
enum class KeptMetric {
  launch,  // known of the launch and its code before it runs
  program, // a fact of the program, counted exactly without hardware
  model,   // modelled
};

struct MetricSource {
  std::string metric;
  bool needed = false;
  // One of the three: figures over counters, the first that has all of them; a figure over metrics;
  // or why it stays as it is.
  std::vector<MetricExpression> counted;
  std::optional<MetricExpression> follows;
  std::optional<KeptMetric> kept;
  std::string why;
  Place place;
};

class CounterMap {
public:
  // Of the data folder: every metric there is has its entry.
  static Result<CounterMap> load();
  // Of one text; `file` names it in messages.
  static Result<CounterMap> parse(std::string_view text, const std::string& file);

  const std::vector<MetricSource>& sources() const { return sources_; }
  // Every counter that any figure asks for; a GPU has most of them.
  const std::vector<std::string>& counters() const { return counters_; }
  // What these readings say of a metric; absent where they say nothing.
  static std::optional<double> counted(const MetricSource& source, const CounterReadings& readings);
  // A metric that must be there and is not, or null.
  const MetricSource* missing(const CounterReadings& readings) const;

private:
  Result<void> add(std::string_view text, const std::string& file);

  std::vector<MetricSource> sources_;
  std::vector<std::string> counters_;
};

} // namespace kernevo
