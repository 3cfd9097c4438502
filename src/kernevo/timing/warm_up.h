// Shots that are thrown away until the device behaves the same from one window to the next. A fixed
// number will not do: recorded series start 6 % slow for one shot, 260 % slow for two, or 12 % fast
// for eight and more (boost first, power limit later).
#pragma once

#include "kernevo/timing/shots.h"

#include <cstdint>
#include <span>

namespace kernevo {

struct WarmUpPlan {
  std::uint64_t min_shots = 2;   // of each side
  Nanoseconds min_time = {0};    // "by time": at least this long
  bool until_stationary = true;  // and until two windows agree
  int window = 8;                // shots of each side
  double tolerance = 0.005;      // windows agree when their medians differ by less, or by noise
  std::uint64_t max_shots = 200; // of each side; the way out where it never settles
  Nanoseconds max_time = {5e9};
};

Result<WarmUpPlan> make_warm_up_plan(WarmUpPlan parts);

struct WarmUp {
  std::uint64_t shots = 0; // of all sides
  bool stationary = false; // false when not asked for, or when a limit came first
};

// Whether the last two windows of a series agree. False while there are fewer samples.
bool windows_agree(std::span<const double> series, int window, double tolerance);

// Takes the sides in turns.
Result<WarmUp> warm_up(ShotSource& source, Clock& clock, std::span<const Side> sides,
                       const WarmUpPlan& plan);

} // namespace kernevo
