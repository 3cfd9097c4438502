#include "kernevo/explain/apply_counters.h"

#include "kernevo/explain/counter_map.h"
#include "kernevo/explain/measure_launch.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace kernevo {
namespace {

class Application {
public:
  Application(const CountedLaunch& counted, const PlannedWork& planned, Metrics& metrics)
      : counted_(counted), planned_(planned), m_(metrics) {}

  void run() {
    for (const MetricSource& source : counted_.map.sources())
      if (m_.find(source.metric) && source.kept != KeptMetric::launch)
        m_.set_sources(source.metric, {std::string(kVirtualSource)});
    for (const MetricSource& source : counted_.map.sources())
      if (const auto value = CounterMap::counted(source, counted_.readings))
        take(source, *value, {counted_.source});
      else if (source.follows)
        follow(source);
    name_busiest_unit(m_);
  }

private:
  // Counters are read pass by pass, so a quotient of two may come out slightly wrong.
  void take(const MetricSource& source, double value, std::set<std::string> sources) {
    const bool fraction = find_metric(source.metric)->unit == "fraction";
    m_.set(source.metric, fraction ? std::clamp(value, 0.0, 1.0) : value);
    m_.set_sources(source.metric, std::move(sources));
  }

  std::optional<double> value_of(const std::string& name) const {
    if (name == kPlanTime)
      return counted_.plan_time ? std::optional(counted_.plan_time->value) : std::nullopt;
    if (name == kPlanLeast)
      return planned_.least.value > 0 ? std::optional(planned_.least.value) : std::nullopt;
    return m_.find(name);
  }

  void follow(const MetricSource& source) {
    std::set<std::string> sources;
    for (const std::string& name : source.follows->names()) {
      if (name == kPlanTime)
        sources.insert(counted_.plan_source);
      else if (name != kPlanLeast)
        sources.insert(m_.sources(name).begin(), m_.sources(name).end());
    }
    if (sources.size() == 1 && *sources.begin() == kVirtualSource)
      return; // nothing it follows from has changed
    if (const auto value = source.follows->value([&](const auto& name) { return value_of(name); }))
      take(source, *value, std::move(sources));
  }

  const CountedLaunch& counted_;
  const PlannedWork& planned_;
  Metrics& m_;
};

} // namespace

void apply_counters(const CountedLaunch& counted, const PlannedWork& planned, Metrics& metrics,
                    RooflinePoint& roofline) {
  Application(counted, planned, metrics).run();
  const double seconds = metrics.find("time").value_or(0) * 1e-9;
  if (seconds > 0)
    roofline.rate = roofline.operations / seconds;
  roofline.dram_bytes = metrics.find("dram_bytes").value_or(roofline.dram_bytes);
  roofline.l2_bytes = metrics.find("l2_bytes").value_or(roofline.l2_bytes);
}

} // namespace kernevo
