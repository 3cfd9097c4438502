// What the counters of a GPU showed of launches, by the names of NVIDIA's profilers.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// Of one launch, in base units: nanoseconds, bytes, percent (0 to 100), counts.
struct CounterReadings {
  std::string kernel;
  std::map<std::string, double> values;

  bool operator==(const CounterReadings&) const = default;
};

enum class CounterOrigin : std::uint8_t {
  gpu,      // counted on the device
  stand_in, // by what plays it: never taken for a GPU's
  file,     // of Nsight Compute
};

struct HardwareCounters {
  CounterOrigin origin = CounterOrigin::gpu;
  std::string source; // "cuda:0", "counters.csv"
  // By the shape's id, one for each launch of its plan. Empty where there are none; then why, and
  // what to do about it.
  std::map<std::string, std::vector<CounterReadings>> cases;
  int passes = 0; // the launches were repeated so often; 0 where nobody knows
  std::string refusal;
  std::string remedy;

  bool operator==(const HardwareCounters&) const = default;

  // How every figure names them: "cuda:0", "stand-in for cuda:0", "counters.csv".
  std::string label() const;
  // Null where the shape has none.
  const std::vector<CounterReadings>* find(const std::string& case_id) const;
};

// What figures that a virtual GPU counted or modelled are labelled with.
inline constexpr std::string_view kVirtualSource = "virtual GPU";

std::string_view name_of(CounterOrigin origin);

std::string to_json(const HardwareCounters& counters);
Result<HardwareCounters> hardware_counters_from_json(std::string_view text);

} // namespace kernevo
