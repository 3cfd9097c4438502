// The seams of timing: who runs a kernel once, and who knows what time it is. Everything else in
// this folder is arithmetic, so a fake of these two makes all of it testable without a device.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/units.h"

#include <chrono>

namespace kernevo {

enum class Side { incumbent, candidate };

// One timed run.
struct Shot {
  Nanoseconds time;
  // The device itself knows that this run is worthless (clock far below its setting, pre-empted).
  // Never decided from the time: that would let a slow kernel hide its slow runs.
  bool disturbed = false;
};

class ShotSource {
public:
  virtual ~ShotSource() = default;
  // Runs one side once. An error is trouble with the machine, never a property of the kernel.
  virtual Result<Shot> shoot(Side side) = 0;
};

// One shot with a time that can be true, or the trouble.
Result<Shot> take_shot(ShotSource& source, Side side);

class Clock {
public:
  virtual ~Clock() = default;
  virtual Nanoseconds now() = 0; // since some fixed moment
};

class SteadyClock final : public Clock {
public:
  Nanoseconds now() override {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration<double, std::nano>(since).count()};
  }
};

} // namespace kernevo
