// A device made of arithmetic: two kernels with known times under a noise that is known too. It is
// the clock as well, so a minute of measuring takes a millisecond.
#pragma once

#include "kernevo/timing/shots.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// What the device does to whatever runs on it, shot after shot.
struct Disturbance {
  double log_factor = 0; // log(time taken / time of the kernel)
  bool flagged = false;  // the device knows
};
using Noise = std::function<Disturbance()>;

struct NoiseModel {
  std::string name;
  std::string meaning;
  std::function<Noise(std::uint64_t seed)> start;
};

// Every simulated noise the statistics are held to.
const std::vector<NoiseModel>& noise_models();
// By name; asserts that it exists.
const NoiseModel& noise_model(std::string_view name);

// Replays recorded times from a place the seed chooses. Each series (one kernel's shots in order)
// is divided by its median; the series follow each other, so where one ends there is what a device
// does when a new kernel starts.
NoiseModel recorded_noise(std::string name, const std::vector<std::vector<double>>& series);

class SimulatedShots final : public ShotSource, public Clock {
public:
  SimulatedShots(Nanoseconds incumbent, Nanoseconds candidate, Noise noise)
      : incumbent_(incumbent), candidate_(candidate), noise_(std::move(noise)) {}

  Result<Shot> shoot(Side side) override;
  Nanoseconds now() override { return now_; }
  std::uint64_t shots() const { return shots_; }
  // Times are whole multiples of this, as event timers have it; 0: exact.
  void set_resolution(Nanoseconds resolution) { resolution_ = resolution; }

private:
  Nanoseconds incumbent_;
  Nanoseconds candidate_;
  Noise noise_;
  Nanoseconds now_;
  Nanoseconds resolution_;
  std::uint64_t shots_ = 0;
};

} // namespace kernevo
