#include "kernevo/timing/warm_up.h"

#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace kernevo {

Result<WarmUpPlan> make_warm_up_plan(WarmUpPlan parts) {
  const auto wrong = [](const std::string& what) {
    return fail(ErrorCode::usage, "warm-up plan: " + what);
  };
  if (parts.max_shots < parts.min_shots || !(parts.max_time >= parts.min_time))
    return wrong("the most shots or time lie below the least");
  if (parts.window < 3)
    return wrong(fmt::format(
        "a window of {} shots; it takes 3 to have a median that means anything", parts.window));
  if (!(parts.tolerance > 0 && parts.tolerance < 1))
    return wrong(fmt::format("tolerance {}; it is a fraction in (0, 1)", parts.tolerance));
  return parts;
}

bool windows_agree(std::span<const double> series, int window, double tolerance) {
  const auto size = static_cast<std::size_t>(window);
  if (series.size() < 2 * size)
    return false;
  const auto later = series.last(size);
  const auto earlier = series.last(2 * size).first(size);
  const double late = median_of(later);
  const double early = median_of(earlier);
  const double spread = std::max(scaled_mad(later, late), scaled_mad(earlier, early));
  // Standard error of the difference of two medians of this many normal samples.
  const double noise = 1.2533 * spread * std::sqrt(2.0 / static_cast<double>(size));
  // One standard error: it is asked after every shot, so chance need not be allowed much.
  return std::abs(late - early) <= std::max(tolerance * early, noise);
}

Result<WarmUp> warm_up(ShotSource& source, Clock& clock, std::span<const Side> sides,
                       const WarmUpPlan& plan) {
  WarmUp result;
  std::vector<std::vector<double>> series(sides.size());
  const Nanoseconds start = clock.now();
  for (std::uint64_t round = 0; round < plan.max_shots; ++round) {
    const Nanoseconds spent = clock.now() - start;
    if (spent >= plan.max_time && round > 0)
      break;
    const bool enough = round >= plan.min_shots && spent >= plan.min_time;
    result.stationary = std::ranges::all_of(series, [&](const std::vector<double>& one) {
      return windows_agree(one, plan.window, plan.tolerance);
    });
    if (enough && (result.stationary || !plan.until_stationary))
      break;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      KERNEVO_TRY(shot, take_shot(source, sides[i]));
      series[i].push_back(shot.time.value);
      ++result.shots;
    }
  }
  result.stationary = std::ranges::all_of(series, [&](const std::vector<double>& one) {
    return windows_agree(one, plan.window, plan.tolerance);
  });
  return result;
}

} // namespace kernevo
