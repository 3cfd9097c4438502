// What the reference kernel tells of a task's work, where the task file does not say it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernevo {

struct ShapeEstimate {
  std::string shape; // id of the case
  // The reference's own operations: a better algorithm may need fewer.
  double flops = 0;
  double bytes = 0;          // that any kernel must move, as far as the sectors tried tell
  double least_bytes = 0;    // the same with 99 % confidence
  std::uint64_t tried = 0;   // sectors of the inputs that were changed to see what comes of it
  std::uint64_t changed = 0; // of them, those that changed an output

  bool operator==(const ShapeEstimate&) const = default;
};

struct WorkEstimate {
  std::vector<ShapeEstimate> shapes; // every one of the task's
  // What the task's objective makes of the least times.
  double roofline_ns = 0; // by all of it
  double moving_ns = 0;   // by what must be moved, without the reference's operations
  double least_ns = 0;    // by what must be moved with 99 % confidence: less cannot be true

  const ShapeEstimate* find(const std::string& shape) const;

  bool operator==(const WorkEstimate&) const = default;
};

// "49 % of the roofline", with a word on where that comes from if it is estimated.
std::string roofline_text(double share, bool estimated);
inline constexpr const char* kFromReference = "estimated from the reference";

} // namespace kernevo
