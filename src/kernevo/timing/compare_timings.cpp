#include "kernevo/timing/compare_timings.h"

#include "kernevo/timing/compare_interleaved.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

Comparison not_comparable(std::string reason) {
  return {Standing::not_comparable, std::nullopt, std::nullopt, 0, std::move(reason)};
}

std::string text_of(const std::optional<CacheState>& cache) {
  return cache ? std::string(name_of(*cache)) : "unknown";
}

// The first thing that must be equal and is not; empty when the receipts agree.
std::string disagreement(const Receipt& a, const Receipt& b) {
  const auto differ = [](std::string_view what, std::string_view x, std::string_view y) {
    return fmt::format("taken on different {}: '{}' and '{}'", what, x, y);
  };
  if (a.device != b.device)
    return differ("devices", a.device, b.device);
  if (a.driver != b.driver)
    return differ("drivers", a.driver, b.driver);
  if (a.stand_in != b.stand_in)
    return differ("stand-ins", a.stand_in, b.stand_in);
  if (a.shapes != b.shapes)
    return differ("shapes", a.shapes, b.shapes);
  if (a.cache != b.cache)
    return differ("cache states", text_of(a.cache), text_of(b.cache));
  return "";
}

// The wider side of a stated error, as a distance of logarithms.
double log_error(const Timing& timing) {
  return std::max(std::log(timing.median.value / timing.interval.low.value),
                  std::log(timing.interval.high.value / timing.median.value));
}

Comparison compare_modelled(const Timing& incumbent, const Timing& candidate, double margin) {
  const double estimate = std::log(incumbent.median.value / candidate.median.value);
  const double error = std::max(log_error(incumbent), log_error(candidate));
  const double confidence = std::min(incumbent.interval.confidence, candidate.interval.confidence);
  if (confidence == 0)
    return not_comparable("a model's interval is stated without a confidence");
  Comparison comparison;
  comparison.method = TimingMethod::modelled;
  comparison.ratio = SpeedRatio{std::exp(estimate), std::exp(estimate - error),
                                std::exp(estimate + error), confidence};
  const bool alike = std::abs(estimate) <= std::log1p(margin);
  comparison.standing = alike                        ? Standing::same
                        : comparison.ratio->low > 1  ? Standing::faster
                        : comparison.ratio->high < 1 ? Standing::slower
                                                     : Standing::ambiguous;
  comparison.reason = fmt::format(
      "predicted {:+.2f} % speed, {} the model's error of {:.3g} %", 100 * std::expm1(estimate),
      std::abs(estimate) <= error ? "within" : "beyond", 100 * std::expm1(error));
  return comparison;
}

Comparison compare_measured(const Timing& incumbent, const Timing& candidate,
                            const PairedPlan& plan) {
  const std::string& episode = incumbent.receipt.episode;
  if (episode.empty() || episode != candidate.receipt.episode)
    return not_comparable("measured one after the other: a drift between them would look like a "
                          "difference; time them in turns");
  const auto& a = incumbent.samples;
  const auto& b = candidate.samples;
  if (a.size() != b.size() || a.size() % 2 != 0)
    return not_comparable(fmt::format("episode '{}' has {} and {} samples, which are no pairs of "
                                      "blocks; time them in turns again",
                                      episode, a.size(), b.size()));
  PairedTest test(plan);
  for (std::size_t i = 0; i < a.size() && !test.standing(); i += 2)
    test.add(block_difference(a[i], a[i + 1], b[i], b[i + 1]));
  Comparison comparison = conclude(test, plan, "the samples ended");
  comparison.method = incumbent.method;
  return comparison;
}

} // namespace

Comparison compare_timings(const Timing& incumbent, const Timing& candidate,
                           const PairedPlan& plan) {
  if (incumbent.method != candidate.method)
    return not_comparable(fmt::format("the incumbent's time is {}, the candidate's {}; the two are "
                                      "never mixed",
                                      name_of(incumbent.method), name_of(candidate.method)));
  if (std::string reason = disagreement(incumbent.receipt, candidate.receipt); !reason.empty())
    return not_comparable(std::move(reason));
  return incumbent.method == TimingMethod::modelled
             ? compare_modelled(incumbent, candidate, plan.margin)
             : compare_measured(incumbent, candidate, plan);
}

} // namespace kernevo
