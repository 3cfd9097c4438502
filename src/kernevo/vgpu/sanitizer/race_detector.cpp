#include "kernevo/vgpu/sanitizer/race_detector.h"

#include "kernevo/vgpu/sanitizer/race_state.h"

#include <algorithm>
#include <utility>

namespace kernevo::vgpu {
namespace {

// Strong accesses synchronise through chunks of this size, so that a packed flag and value meet
// whichever part is read.
constexpr std::uint64_t kChunk = 8;
constexpr std::uint64_t kNobody = ~std::uint64_t{0};

// True when the point already holds all this warp could publish. Otherwise notes the publication.
bool already_published(SyncPoint& point, std::uint64_t name, Clock clock, std::uint32_t version) {
  if (point.last_warp == name && point.last_clock == clock && point.last_version == version)
    return true;
  if (point.covered_by != name)
    point.covered_by = point.last_warp == kNobody ? name : kNobody;
  point.last_warp = name;
  point.last_clock = clock;
  point.last_version = version;
  return false;
}

} // namespace

void RaceDetector::State::publish_local(LiveBlock& here, std::uint32_t warp, SyncPoint& point) {
  WarpClocks& mine = here.warps[warp];
  const Clock clock = clocks.publish(mine.component);
  if (already_published(point, warp, clock, mine.version))
    return;
  point.local.resize(warps_per_block, 0);
  raise_to(point.local.data(), mine.known.data(), warps_per_block);
  point.local[warp] = std::max(point.local[warp], clock);
  merge(point.foreign, mine.foreign);
}

void RaceDetector::State::learn_local(LiveBlock& here, std::uint32_t warp, SyncPoint& point) const {
  WarpClocks& mine = here.warps[warp];
  if (point.local.empty())
    return;
  // What another lane of this warp published is ordered before all lanes now.
  mine.lanes.raise_all(point.local[warp] + 1);
  if (std::exchange(point.covered_by, warp) == warp)
    return;
  const bool local = raise_to(mine.known.data(), point.local.data(), warps_per_block);
  const bool foreign = merge(mine.foreign, point.foreign);
  mine.version += static_cast<std::uint32_t>(local || foreign);
}

void RaceDetector::State::publish_global(LiveBlock& here, std::uint32_t warp, SyncPoint& point) {
  WarpClocks& mine = here.warps[warp];
  const Clock clock = clocks.publish(mine.component);
  if (already_published(point, here.name(warp), clock, mine.version))
    return;
  if (!point.foreign)
    point.foreign = std::make_shared<ClockVector>(clocks.size(), 0);
  else if (point.foreign.use_count() > 1)
    point.foreign = std::make_shared<ClockVector>(*point.foreign);
  ClockVector& vector = *point.foreign;
  if (mine.foreign)
    raise_to(vector.data(), mine.foreign->data(), vector.size());
  for (std::uint32_t other = 0; other < warps_per_block; ++other) {
    Clock& entry = vector[here.warps[other].component];
    entry = std::max(entry, other == warp ? clock : mine.known[other]);
  }
}

void RaceDetector::State::learn_global(LiveBlock& here, std::uint32_t warp,
                                       SyncPoint& point) const {
  WarpClocks& mine = here.warps[warp];
  if (!point.foreign)
    return;
  mine.lanes.raise_all((*point.foreign)[mine.component] + 1);
  if (std::exchange(point.covered_by, here.name(warp)) == here.name(warp))
    return;
  bool rose = merge(mine.foreign, point.foreign);
  for (std::uint32_t other = 0; other < warps_per_block; ++other) {
    const Clock clock = (*point.foreign)[here.warps[other].component];
    rose |= clock > mine.known[other];
    mine.known[other] = std::max(mine.known[other], clock);
  }
  mine.version += static_cast<std::uint32_t>(rose);
}

RaceDetector::RaceDetector(std::uint64_t blocks_in_grid, std::uint32_t warps_per_block,
                           std::uint32_t granule, std::uint64_t cell_bytes)
    : state_(std::make_unique<State>(blocks_in_grid, warps_per_block, granule, cell_bytes)) {}

RaceDetector::~RaceDetector() = default;

void RaceDetector::begin_block(std::uint32_t block, std::uint64_t shared_bytes) {
  state_->end(block);
  state_->begin(block, shared_bytes);
}

void RaceDetector::end_block(std::uint32_t block) {
  state_->end(block);
}

std::uint64_t RaceDetector::untracked() const {
  return state_->untracked;
}

std::optional<Race> RaceDetector::shared_access(const Actor& who, std::uint64_t offset,
                                                std::uint32_t size, Touch touch, bool strong,
                                                bool same_value) {
  State& s = *state_;
  LiveBlock& here = s.block(who.block);
  const TrackedAccess now{who, touch, strong, same_value};
  const std::uint64_t last_chunk = (offset + size - 1) / kChunk;
  if (strong && touch != Touch::store)
    for (std::uint64_t chunk = offset / kChunk; chunk <= last_chunk; ++chunk)
      if (const auto point = here.chunks.find(chunk); point != here.chunks.end())
        s.learn_local(here, who.warp, point->second);

  const std::uint32_t component = here.warps[who.warp].component;
  const Clock clock = strong ? s.clocks.now(component) : s.clocks.fresh(component);
  std::optional<Race> race;
  const std::uint64_t end = (offset + size + s.granule - 1) >> s.granule_shift;
  for (std::uint64_t index = offset >> s.granule_shift; index < end; ++index) {
    if (index >= here.cells.size()) {
      ++s.untracked;
      break;
    }
    Cell& cell = here.cells[index];
    // Left over from a block that used this memory before.
    const auto stale = [&](const Trace& trace) { return trace.owner != here.run; };
    if (stale(cell.write) && stale(cell.reads[0]) && stale(cell.reads[1]))
      cell = {};
    auto found = s.touch_cell(here, cell, here.run, now, clock);
    if (found && !race) {
      race = found;
      race->offset = std::max(offset, index << s.granule_shift);
    }
  }
  if (strong && now.writes() && here.fenced_block)
    for (std::uint64_t chunk = offset / kChunk; chunk <= last_chunk; ++chunk)
      s.publish_local(here, who.warp, here.chunks[chunk]);
  return race;
}

std::optional<Race> RaceDetector::State::touch_region(LiveBlock& here, const Place& place,
                                                      const TrackedAccess& now, bool publishes) {
  const Actor& who = now.who;
  const std::uint64_t last_chunk = (place.offset + place.size - 1) / kChunk;
  if (now.strong && now.touch != Touch::store)
    for (std::uint64_t chunk = place.offset / kChunk; chunk <= last_chunk; ++chunk)
      if (SyncPoint* point = clocks.sync_point(place.region, chunk, false))
        learn_global(here, who.warp, *point);

  const std::uint32_t component = here.warps[who.warp].component;
  const Clock clock = now.strong ? clocks.now(component) : clocks.fresh(component);
  CellRegion& cells = region(place.region, place.region_bytes);
  std::optional<Race> race;
  const std::uint64_t end = (place.offset + place.size + granule - 1) >> granule_shift;
  for (std::uint64_t index = place.offset >> granule_shift; index < end; ++index) {
    Cell* cell = cells.cell(index, budget);
    if (cell == nullptr) {
      ++untracked;
      break;
    }
    auto found = touch_cell(here, *cell, who.block, now, clock);
    if (found && !race) {
      race = found;
      race->offset = std::max(place.offset, index << granule_shift);
    }
  }
  if (now.strong && now.writes() && publishes)
    for (std::uint64_t chunk = place.offset / kChunk; chunk <= last_chunk; ++chunk)
      publish_global(here, who.warp, *clocks.sync_point(place.region, chunk, true));
  return race;
}

std::optional<Race> RaceDetector::global_access(const Actor& who, std::uint64_t region,
                                                std::uint64_t region_bytes, std::uint64_t offset,
                                                std::uint32_t size, Touch touch, bool strong,
                                                bool same_value, bool block_scope) {
  LiveBlock& here = state_->block(who.block);
  return state_->touch_region(here, {region, region_bytes, offset, size},
                              {who, touch, strong, same_value, block_scope}, here.fenced_device);
}

std::optional<Race> RaceDetector::cluster_access(const Actor& who, std::uint32_t owner,
                                                 std::uint64_t region, std::uint64_t region_bytes,
                                                 std::uint64_t offset, std::uint32_t size,
                                                 Touch touch, bool strong, bool same_value) {
  State& s = *state_;
  LiveBlock& here = s.block(who.block);
  auto race = s.touch_region(here, {region, region_bytes, offset, size},
                             {who, touch, strong, same_value}, here.fenced_block);
  if (owner != who.block) {
    const std::uint32_t component = here.warps[who.warp].component;
    s.block(owner).uses[component] = {who, touch, s.clocks.now(component)};
  }
  return race;
}

void RaceDetector::fence(std::uint32_t block, FenceScope scope) {
  LiveBlock& here = state_->block(block);
  here.fenced_block = true;
  here.fenced_device = here.fenced_device || scope == FenceScope::device;
}

void RaceDetector::forget_region(std::uint64_t region) {
  State& s = *state_;
  if (const auto found = s.regions.find(region); found != s.regions.end()) {
    s.budget += found->second.bytes();
    s.regions.erase(found);
    s.recent_region = nullptr;
  }
}

void RaceDetector::warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) {
  State& s = *state_;
  WarpClocks& mine = s.block(block).warps[warp];
  s.clocks.advance(mine.component);
  mine.lanes.meet(lanes, s.clocks.now(mine.component));
}

void RaceDetector::barrier(std::uint32_t block, std::uint64_t warps) {
  State& s = *state_;
  LiveBlock& here = s.block(block);
  ClockVector together(s.warps_per_block, 0);
  SharedClocks foreign;
  for (std::uint32_t warp = 0; warp < s.warps_per_block; ++warp) {
    if ((warps >> warp & 1U) == 0)
      continue;
    const WarpClocks& mine = here.warps[warp];
    raise_to(together.data(), mine.known.data(), s.warps_per_block);
    together[warp] = std::max(together[warp], s.clocks.now(mine.component));
    merge(foreign, mine.foreign);
  }
  for (std::uint32_t warp = 0; warp < s.warps_per_block; ++warp) {
    if ((warps >> warp & 1U) == 0)
      continue;
    WarpClocks& mine = here.warps[warp];
    std::copy(together.begin(), together.end(), mine.known.begin());
    mine.foreign = foreign;
    ++mine.version;
    s.clocks.advance(mine.component);
    mine.lanes.raise_all(s.clocks.now(mine.component));
  }
}

void RaceDetector::release(std::uint32_t block, std::uint32_t warp, std::uint64_t object) {
  LiveBlock& here = state_->block(block);
  state_->publish_local(here, warp, here.objects[object]);
}

void RaceDetector::acquire(std::uint32_t block, std::uint32_t warp, std::uint64_t object) {
  LiveBlock& here = state_->block(block);
  if (const auto point = here.objects.find(object); point != here.objects.end())
    state_->learn_local(here, warp, point->second);
  // Whoever waited on the object, its lanes went on together.
  warp_sync(block, warp, LaneOrder::kAllLanes);
}

void RaceDetector::release_to_cluster(std::uint32_t block, std::uint32_t warp, std::uint64_t region,
                                      std::uint64_t object) {
  State& s = *state_;
  s.publish_global(s.block(block), warp, *s.clocks.sync_point(region, object, true));
}

void RaceDetector::acquire_from_cluster(std::uint32_t block, std::uint32_t warp,
                                        std::uint64_t region, std::uint64_t object) {
  State& s = *state_;
  if (SyncPoint* point = s.clocks.sync_point(region, object, false))
    s.learn_global(s.block(block), warp, *point);
  warp_sync(block, warp, LaneOrder::kAllLanes);
}

void RaceDetector::cluster_barrier(std::uint32_t block) {
  if (const auto found = state_->live.find(block); found != state_->live.end())
    found->second->uses.clear();
}

std::optional<Race> RaceDetector::use_at_exit(std::uint32_t block) {
  const LiveBlock& here = state_->block(block);
  for (const auto& [component, use] : here.uses) {
    const bool over =
        std::any_of(here.warps.begin(), here.warps.end(), [&](const WarpClocks& warp) {
          return warp.foreign && (*warp.foreign)[component] >= use.clock;
        });
    if (!over) {
      Race race;
      race.first = use.who;
      race.first_touch = use.touch;
      return race;
    }
  }
  return std::nullopt;
}

} // namespace kernevo::vgpu
