// A timing that the device itself does not call disturbed, or one that says it was.
#pragma once

#include "kernevo/device/device.h"

#include <functional>
#include <string>
#include <vector>

namespace kernevo {

// What the device said before and after the timing that counts.
struct Conditions {
  DeviceState before;
  DeviceState after;
  std::vector<std::string> disturbances; // of the last try; empty when one was quiet
  int tries = 0;

  // "throttled by heat, each of 3 times"; empty when it was quiet.
  std::string complaint() const;
};

// Times once, with the seed of that try; says what was wrong with it beside what the device says.
using TimeOnce = std::function<Result<std::vector<std::string>>(int attempt)>;

// Again and again until nothing disturbed it, three times at most, with rests between them.
Result<Conditions> time_undisturbed(Device& device, const TimeOnce& time);

// What the conditions add to a receipt.
Receipt under(Receipt receipt, const Conditions& conditions);
// A timing that nobody must score says so.
void mark(Timing& timing, const Conditions& conditions);

} // namespace kernevo
