#include "kernevo/model/timing.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

bool is_time(Nanoseconds time) {
  return std::isfinite(time.value) && time.value > 0;
}

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::input, "timing record: " + what);
}

Result<void> check_measured(const Timing& timing) {
  if (timing.samples.empty())
    return wrong("a measured time needs samples");
  if (!timing.terms.empty())
    return wrong("a measured time has no model terms; measured and modelled are never mixed");
  if (timing.quality.grade == TimingGrade::extrapolated)
    return wrong("a measured time cannot be extrapolated");
  for (std::size_t i = 0; i < timing.samples.size(); ++i)
    if (!is_time(timing.samples[i]))
      return wrong(fmt::format("sample {} is {} ns; a time is positive and finite", i + 1,
                               timing.samples[i].value));
  const auto [least, most] = std::minmax_element(timing.samples.begin(), timing.samples.end());
  if (timing.median < *least || timing.median > *most)
    return wrong(fmt::format("the median, {} ns, lies outside the samples", timing.median.value));
  return {};
}

Result<void> check_modelled(const Timing& timing) {
  if (!timing.samples.empty())
    return wrong("a modelled time has no samples; measured and modelled are never mixed");
  if (timing.terms.empty())
    return wrong("a modelled time needs the terms it is made of");
  for (const TimingTerm& term : timing.terms)
    if (term.name.empty() || !std::isfinite(term.time.value) || term.time.value < 0)
      return wrong(fmt::format("term '{}' is {} ns; a term has a name and is not negative",
                               term.name, term.time.value));
  return {};
}

Result<void> check_quality(const TimingQuality& quality) {
  const bool numbers = std::isfinite(quality.relative_noise) && quality.relative_noise >= 0 &&
                       std::isfinite(quality.autocorrelation_time) &&
                       quality.autocorrelation_time >= 0;
  if (!numbers)
    return wrong("noise and autocorrelation are finite and not negative");
  if (quality.reason.find('\n') != std::string::npos)
    return wrong("the reason of the quality is one line");
  return {};
}

} // namespace

std::string_view name_of(TimingMethod value) {
  switch (value) {
  case TimingMethod::measured: return "measured";
  case TimingMethod::modelled: return "modelled";
  case TimingMethod::stand_in: return "modelled_by_stand_in";
  }
  return "unknown";
}

std::string_view name_of(TimingGrade value) {
  switch (value) {
  case TimingGrade::good: return "good";
  case TimingGrade::noisy: return "noisy";
  case TimingGrade::drifting: return "drifting";
  case TimingGrade::extrapolated: return "extrapolated";
  case TimingGrade::disturbed: return "disturbed";
  }
  return "unknown";
}

std::string_view name_of(CacheState value) {
  switch (value) {
  case CacheState::cold: return "cold";
  case CacheState::hot: return "hot";
  }
  return "unknown";
}

Result<Timing> make_timing(Timing parts) {
  KERNEVO_CHECK(has_samples(parts.method) ? check_measured(parts) : check_modelled(parts));
  const TimeInterval& interval = parts.interval;
  if (!is_time(parts.median) || !is_time(interval.low) || !is_time(interval.high))
    return wrong("the median and its interval are positive and finite");
  if (interval.low > parts.median || parts.median > interval.high)
    return wrong(fmt::format("the median, {} ns, lies outside its interval [{}, {}]",
                             parts.median.value, interval.low.value, interval.high.value));
  if (!(interval.confidence >= 0 && interval.confidence < 1))
    return wrong(fmt::format("confidence {} is not a fraction in [0, 1)", interval.confidence));
  KERNEVO_CHECK(check_quality(parts.quality));
  if (parts.receipt.device.empty())
    return wrong("the receipt names no device");
  if ((parts.method == TimingMethod::stand_in) == parts.receipt.stand_in.empty())
    return wrong("times of a stand-in, and they alone, name it in their receipt");
  return parts;
}

} // namespace kernevo
