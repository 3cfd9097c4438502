#include "kernevo/vgpu/profile/sector_cache.h"

#include <algorithm>

namespace kernevo::vgpu {
namespace {

constexpr std::uint64_t kLineBytes = 128;
constexpr std::uint64_t kSectorsPerLine = 4;
// More ways than hardware is said to have: its sets are chosen by a hash nobody has published, and
// many ways are how a good hash behaves.
constexpr std::uint64_t kWays = 16;

} // namespace

SectorCache::SectorCache(std::uint64_t bytes) : sets_(bytes / kLineBytes / kWays) {
  lines_.resize(sets_ * kWays);
}

bool SectorCache::load(std::uint64_t sector) {
  if (sets_ == 0)
    return false;
  const std::uint64_t number = sector / kSectorsPerLine;
  const auto bit = static_cast<std::uint8_t>(1U << (sector % kSectorsPerLine));
  const std::uint64_t mixed = number ^ (number >> 7U) ^ (number >> 15U);
  Line* const first = lines_.data() + mixed % sets_ * kWays;
  Line* const last = first + kWays;
  ++clock_;
  Line* line = std::find_if(first, last, [&](const Line& l) { return l.tag == number + 1; });
  if (line == last) {
    line =
        std::min_element(first, last, [](const Line& a, const Line& b) { return a.used < b.used; });
    *line = {number + 1, 0, 0};
  }
  line->used = clock_;
  const bool hit = (line->sectors & bit) != 0;
  line->sectors |= bit;
  return hit;
}

void SectorCache::clear() {
  std::fill(lines_.begin(), lines_.end(), Line());
}

} // namespace kernevo::vgpu
