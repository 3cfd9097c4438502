#include "kernevo/ptx/line_map.h"

namespace kernevo::ptx {

std::size_t LineMap::Hash::operator()(const Location& location) const {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = location.file;
  hash = (hash * kOdd) ^ location.line;
  hash = (hash * kOdd) ^ location.column;
  return hash * kOdd >> 16;
}

void LineMap::locate(const Location& here, const std::optional<Location>& inlined_at) {
  SourceLine place{here.file, here.line};
  if (inlined_at) {
    const auto found = outermost_.find(*inlined_at);
    place =
        found != outermost_.end() ? found->second : SourceLine{inlined_at->file, inlined_at->line};
  }
  outermost_[here] = place;
  // Line 0 marks code without a line of its own: the last place known says more than none.
  if (place.line != 0)
    current_ = place;
}

} // namespace kernevo::ptx
