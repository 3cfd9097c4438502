// How fast a probe goes: timed at three sizes, through which a line is laid.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/calibrate/probe.h"
#include "kernevo/device/device.h"

#include <array>
#include <optional>
#include <string>

namespace kernevo::calibrate {

// The time of a probe at a size, and how well it is known.
struct Point {
  double size = 0;
  double ns = 0;
  double half_width = 0; // of the median's interval
};

struct Fit {
  double ns_per_size = 0;
  double spread = 0; // a fraction: what noise, and bends of the line, leave open
};
// Nothing where the points are no line, or noise hides it; `why` says so then.
std::optional<Fit> fit_line(const std::array<Point, kSizes>& points, std::string& why);

struct ProbeTime {
  std::string probe;
  std::optional<Fit> fit;  // of a probe whose size counts
  std::optional<Point> at; // of one whose time itself does
  std::string failed;      // why there is neither
  std::uint64_t shots = 0;
};

// The machine's trouble is the error, a GPU that is never quiet as well.
Result<ProbeTime> time_probe(Device& device, LoadedModule& module, const Probe& probe);

} // namespace kernevo::calibrate
