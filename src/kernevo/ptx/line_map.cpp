#include "kernevo/ptx/line_map.h"

namespace kernevo::ptx {

std::size_t LineMap::Hash::operator()(const Location& location) const {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = location.file;
  hash = (hash * odd) ^ location.line;
  hash = (hash * odd) ^ location.column;
  return hash * odd >> 16;
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
