// Is the candidate faster than the incumbent, and is the difference real?
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/timing.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernevo {

enum class Standing {
  faster,
  slower,
  same,           // shown to differ by less than the margin
  ambiguous,      // neither a difference nor its absence was shown within the limits
  not_comparable, // the two figures do not speak of the same thing
};

// Time of the incumbent / time of the candidate: 1.02 is 2 % faster.
struct SpeedRatio {
  double estimate = 1;
  double low = 1;
  double high = 1;
  double confidence = 0; // that the truth lies in [low, high], however often was looked
};

struct Comparison {
  Standing standing = Standing::not_comparable;
  std::optional<TimingMethod> method; // absent when not comparable
  std::optional<SpeedRatio> ratio;    // absent when not comparable or before the first look
  std::uint64_t blocks = 0;           // paired blocks it rests on; 0 for modelled times
  std::string reason;                 // one line
};

std::string_view name_of(Standing value);

// The one door into the record: the same parts if they make sense together, else what is wrong.
Result<Comparison> make_comparison(Comparison parts);

// Only what was shown to be faster takes the incumbent's place; ties and doubts never do.
inline bool replaces_incumbent(const Comparison& comparison) {
  return comparison.standing == Standing::faster;
}

} // namespace kernevo
