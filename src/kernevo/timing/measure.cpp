#include "kernevo/timing/measure.h"

#include "kernevo/timing/summarise.h"

#include <array>
#include <fmt/format.h>

namespace kernevo {
namespace {

Result<void> check(const MeasurePlan& plan) {
  KERNEVO_CHECK(make_warm_up_plan(plan.warm_up));
  if (plan.min_samples < 1 || plan.max_samples < plan.min_samples)
    return fail(ErrorCode::usage,
                fmt::format("measurement plan: from {} to {} samples; it takes 1 <= min <= max",
                            plan.min_samples, plan.max_samples));
  if (!(plan.confidence > 0 && plan.confidence < 1))
    return fail(ErrorCode::usage,
                fmt::format("measurement plan: confidence {} is not in (0, 1)", plan.confidence));
  return {};
}

} // namespace

Result<Timing> measure(ShotSource& source, Clock& clock, Side side, const MeasurePlan& plan,
                       Receipt receipt) {
  KERNEVO_CHECK(check(plan));
  KERNEVO_TRY(rule, make_stopping_rule(plan.rule, plan.parameters));
  SamplingFacts facts;
  const std::array sides{side};
  KERNEVO_TRY(warm, warm_up(source, clock, sides, plan.warm_up));
  facts.warm_up = warm;

  std::vector<Nanoseconds> samples;
  const Nanoseconds start = clock.now();
  while (facts.stopped_by.empty()) {
    KERNEVO_TRY(shot, take_shot(source, side));
    if (shot.disturbed) {
      ++facts.discarded;
    } else {
      samples.push_back(shot.time);
      rule->add(shot.time.value);
      facts.precise = samples.size() >= plan.min_samples && rule->finished();
    }
    if (facts.precise)
      facts.stopped_by = "rule " + plan.rule;
    else if (samples.size() >= plan.max_samples)
      facts.stopped_by = fmt::format("the limit of {} samples", plan.max_samples);
    else if (facts.discarded > plan.max_discarded)
      facts.stopped_by = fmt::format("{} disturbed shots", facts.discarded);
    else if (clock.now() - start >= plan.time_limit)
      facts.stopped_by = fmt::format("the limit of {:.3g} s", plan.time_limit.value * 1e-9);
  }
  if (samples.empty())
    return fail(ErrorCode::infrastructure,
                fmt::format("no undisturbed shot was taken before {}", facts.stopped_by),
                std::nullopt, "allow more time, or lower the device's clocks or its load");
  return summarise(std::move(samples), facts, plan.confidence, std::move(receipt));
}

} // namespace kernevo
