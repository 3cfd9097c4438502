// Who knows about whose past. A warp's clock names a stretch of its work; `known` of another warp
// says up to which stretch that work happens before. Inside a block every warp keeps a small row
// over its block's warps; what it learnt from other blocks is a longer vector that most warps never
// need and that warps share until one of them learns more.
#pragma once

#include "kernevo/vgpu/sanitizer/lane_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kernevo::vgpu {

using Clock = LaneOrder::Clock;
using ClockVector = std::vector<Clock>;
using SharedClocks = std::shared_ptr<ClockVector>; // null: nothing known

// Raises `into` to the larger of both, entry by entry; true when something rose.
inline bool raise_to(Clock* into, const Clock* from, std::size_t count) {
  Clock rose = 0;
  for (std::size_t i = 0; i < count; ++i) {
    rose |= static_cast<Clock>(from[i] > into[i]);
    into[i] = std::max(into[i], from[i]);
  }
  return rose != 0;
}

inline bool covers(const ClockVector& all, const ClockVector& part) {
  Clock missing = 0;
  for (std::size_t i = 0; i < part.size(); ++i)
    missing |= static_cast<Clock>(part[i] > all[i]);
  return missing == 0;
}

// Copies before it changes what others share.
inline bool merge(SharedClocks& into, const SharedClocks& from) {
  if (!from || from == into)
    return false;
  if (!into) {
    into = from;
    return true;
  }
  if (into.use_count() > 1) {
    if (covers(*into, *from))
      return false;
    if (covers(*from, *into)) {
      into = from;
      return true;
    }
    into = std::make_shared<ClockVector>(*into);
  }
  return raise_to(into->data(), from->data(), from->size());
}

struct WarpClocks {
  std::uint32_t component = 0; // its place in vectors over the grid, and of its clock
  LaneOrder lanes;             // of the warp among each other
  std::uint32_t version = 0;   // rises whenever the warp learns something
  ClockVector known;           // of the block's warps
  SharedClocks foreign;        // of the whole grid
};

// What has been published through one address or synchronisation object.
struct SyncPoint {
  ClockVector local;    // inside a block: over its warps
  SharedClocks foreign; // over the grid
  // The warp known to know all that is here: learning it again is skipped.
  std::uint64_t covered_by = ~std::uint64_t{0};
  // The last publication: publishing the same again is skipped.
  std::uint64_t last_warp = ~std::uint64_t{0};
  Clock last_clock = 0;
  std::uint32_t last_version = 0;
};

// Clocks of every warp of the grid. Huge grids share clocks between warps far apart: a shared clock
// makes more work look ordered, never less.
class GridClocks {
public:
  static constexpr std::uint64_t kMostComponents = 512;
  static constexpr std::uint64_t kMostSyncBytes = std::uint64_t{16} << 20U;

  GridClocks(std::uint64_t blocks, std::uint32_t warps)
      : warps_(warps),
        size_(static_cast<std::size_t>(std::clamp<std::uint64_t>(
            blocks * warps, warps, std::max<std::uint64_t>(kMostComponents, warps)))),
        clocks_(size_, 1), published_(size_, 0) {}

  std::uint32_t component(std::uint32_t block, std::uint32_t warp) const {
    return static_cast<std::uint32_t>((std::uint64_t{block} * warps_ + warp) % size_);
  }
  Clock now(std::uint32_t component) const { return clocks_[component]; }
  std::size_t size() const { return size_; }

  // The clock a plain access gets: one that has not been published yet.
  Clock fresh(std::uint32_t component) {
    if (published_[component] != 0)
      advance(component);
    return clocks_[component];
  }
  Clock publish(std::uint32_t component) {
    published_[component] = 1;
    return clocks_[component];
  }
  void advance(std::uint32_t component) {
    ++clocks_[component];
    published_[component] = 0;
  }

  // The sync point of eight bytes of global memory; null when nothing was published there and
  // `make` is false. Past the memory bound new addresses share the existing points.
  SyncPoint* sync_point(std::uint64_t region, std::uint64_t chunk, bool make) {
    const std::uint64_t key = (region * 0x9E3779B97F4A7C15U) ^ (chunk * 0xC2B2AE3D27D4EB4FU);
    const std::uint64_t bytes_each = size_ * sizeof(Clock);
    const auto found = points_.find(key);
    if (found != points_.end())
      return &found->second;
    const bool full = points_.size() * bytes_each >= kMostSyncBytes;
    if (full)
      return &overflow_[key % overflow_.size()];
    return make ? &points_[key] : nullptr;
  }

private:
  std::uint32_t warps_;
  std::size_t size_;
  ClockVector clocks_;
  std::vector<std::uint8_t> published_;
  std::unordered_map<std::uint64_t, SyncPoint> points_;
  std::vector<SyncPoint> overflow_ = std::vector<SyncPoint>(64);
};

} // namespace kernevo::vgpu
