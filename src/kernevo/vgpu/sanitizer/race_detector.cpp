#include "kernevo/vgpu/sanitizer/race_detector.h"

#include "kernevo/vgpu/sanitizer/race_cells.h"
#include "kernevo/vgpu/sanitizer/race_clocks.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kernevo::vgpu {
namespace {

// Strong accesses synchronise through chunks of this size, so that a packed flag and value meet
// whichever part is read.
constexpr std::uint64_t kChunk = 8;
constexpr std::uint64_t kNobody = ~std::uint64_t{0};

struct LiveBlock {
  std::uint32_t index = 0;
  std::uint32_t run = 0;      // distinguishes blocks that reuse the same cells
  bool fenced_block = false;  // some thread executed a fence, at block scope or wider
  bool fenced_device = false; // the same at device scope
  std::vector<WarpClocks> warps;
  std::vector<Cell> cells;                              // of shared memory
  std::unordered_map<std::uint64_t, SyncPoint> chunks;  // of shared memory
  std::unordered_map<std::uint64_t, SyncPoint> objects; // named by the caller
  // The last use of its shared memory by each warp of other blocks, by clock component.
  struct Use {
    Actor who;
    Touch touch = Touch::load;
    Clock clock = 0;
  };
  std::unordered_map<std::uint32_t, Use> uses;

  std::uint64_t name(std::uint32_t warp) const { return std::uint64_t{run} << 32U | warp; }
};

struct Access {
  const Actor& who;
  Touch touch;
  bool strong;
  bool same_value;

  bool writes() const { return vgpu::writes(touch); }
};

Trace trace_of(std::uint32_t owner, const Access& access, Clock clock, bool unchanging) {
  Trace trace;
  trace.owner = owner;
  trace.clock = clock;
  trace.instruction = access.who.instruction;
  trace.lanes = 1U << access.who.lane;
  trace.warp = access.who.warp;
  trace.touch = access.touch;
  trace.strong = access.strong;
  trace.unchanging = unchanging;
  return trace;
}

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

struct RaceDetector::State {
  State(std::uint64_t blocks, std::uint32_t warps, std::uint32_t granule_bytes,
        std::uint64_t cell_bytes)
      : warps_per_block(std::max(warps, 1U)), granule(std::max(granule_bytes, 1U)),
        granule_shift(static_cast<unsigned>(std::countr_zero(granule))),
        clocks(std::max<std::uint64_t>(blocks, 1), warps_per_block), budget(cell_bytes) {}

  std::uint32_t warps_per_block;
  std::uint32_t granule;
  unsigned granule_shift;
  GridClocks clocks;
  std::unordered_map<std::uint32_t, std::unique_ptr<LiveBlock>> live;
  LiveBlock* recent_block = nullptr;
  std::vector<std::vector<Cell>> spare_cells; // of ended blocks; their runs make them stale
  std::uint32_t runs = 0;
  std::unordered_map<std::uint64_t, CellRegion> regions;
  std::uint64_t recent_region_id = 0;
  CellRegion* recent_region = nullptr;
  std::uint64_t budget;
  std::uint64_t untracked = 0;
  std::vector<Actor> promises; // of memory that stays as it is; see Cell

  LiveBlock& begin(std::uint32_t block, std::uint64_t shared_bytes);
  void end(std::uint32_t block);
  LiveBlock& block(std::uint32_t index);
  CellRegion& region(std::uint64_t id, std::uint64_t bytes);

  struct Place {
    std::uint64_t region;
    std::uint64_t region_bytes;
    std::uint64_t offset;
    std::uint32_t size;
  };
  // `publishes`: strong writes carry what the block did before.
  std::optional<Race> touch_region(LiveBlock& here, const Place& place, const Access& now,
                                   bool publishes);
  bool ordered(const LiveBlock& here, const Trace& before, std::uint32_t owner,
               const Access& now) const;
  void remember_read(const LiveBlock& here, Cell& cell, std::uint32_t owner, const Access& now,
                     Clock clock) const;
  const Trace* conflict(const LiveBlock& here, Cell& cell, std::uint32_t owner, const Access& now,
                        Clock clock) const;
  std::optional<Race> staleness(Cell& cell, std::uint32_t owner, const Access& now);
  std::optional<Race> touch_cell(LiveBlock& here, Cell& cell, std::uint32_t owner,
                                 const Access& now, Clock clock);

  void publish_local(LiveBlock& here, std::uint32_t warp, SyncPoint& point);
  void learn_local(LiveBlock& here, std::uint32_t warp, SyncPoint& point) const;
  void publish_global(LiveBlock& here, std::uint32_t warp, SyncPoint& point);
  void learn_global(LiveBlock& here, std::uint32_t warp, SyncPoint& point) const;
};

LiveBlock& RaceDetector::State::begin(std::uint32_t index, std::uint64_t shared_bytes) {
  auto fresh = std::make_unique<LiveBlock>();
  fresh->index = index;
  fresh->run = ++runs;
  fresh->warps.resize(warps_per_block);
  for (std::uint32_t warp = 0; warp < warps_per_block; ++warp) {
    WarpClocks& clock = fresh->warps[warp];
    clock.component = clocks.component(index, warp);
    clock.known.assign(warps_per_block, 0);
    clocks.advance(clock.component);
    clock.lanes.raise_all(clocks.now(clock.component));
  }
  if (!spare_cells.empty()) {
    fresh->cells = std::move(spare_cells.back());
    spare_cells.pop_back();
  }
  fresh->cells.resize((shared_bytes + granule - 1) >> granule_shift);
  recent_block = fresh.get();
  return *(live[index] = std::move(fresh));
}

void RaceDetector::State::end(std::uint32_t index) {
  const auto found = live.find(index);
  if (found == live.end())
    return;
  if (!found->second->cells.empty())
    spare_cells.push_back(std::move(found->second->cells));
  if (recent_block == found->second.get())
    recent_block = nullptr;
  live.erase(found);
}

LiveBlock& RaceDetector::State::block(std::uint32_t index) {
  if (recent_block != nullptr && recent_block->index == index)
    return *recent_block;
  const auto found = live.find(index);
  if (found == live.end())
    return begin(index, 0);
  recent_block = found->second.get();
  return *recent_block;
}

CellRegion& RaceDetector::State::region(std::uint64_t id, std::uint64_t bytes) {
  if (recent_region == nullptr || recent_region_id != id) {
    recent_region = &regions.try_emplace(id, (bytes + granule - 1) >> granule_shift).first->second;
    recent_region_id = id;
  }
  return *recent_region;
}

// Does what `before` recorded happen before the access being made?
bool RaceDetector::State::ordered(const LiveBlock& here, const Trace& before, std::uint32_t owner,
                                  const Access& now) const {
  const WarpClocks& mine = here.warps[now.who.warp];
  if (before.owner != owner)
    return mine.foreign &&
           (*mine.foreign)[clocks.component(before.owner, before.warp)] >= before.clock;
  if (before.warp != now.who.warp)
    return mine.known[before.warp] >= before.clock;
  const std::uint32_t own = 1U << now.who.lane;
  // A lane that wrote the value itself reads it safely, whoever else wrote the same.
  if (!now.writes() && writes(before.touch) && (before.lanes & own) != 0)
    return true;
  return mine.lanes.knows(now.who.lane, before.lanes & ~own, before.clock);
}

// What `now` races with in this cell. Also notes writers that agree on a value.
const Trace* RaceDetector::State::conflict(const LiveBlock& here, Cell& cell, std::uint32_t owner,
                                           const Access& now, Clock clock) const {
  Trace& write = cell.write;
  if (!cell.covered.empty() && !ordered(here, cell.covered, owner, now))
    return &cell.covered;
  if (!write.empty() && !(write.strong && now.strong) && !ordered(here, write, owner, now)) {
    const std::uint32_t warp_bit = now.who.warp < 32 ? 1U << now.who.warp : 0;
    if (now.writes()) {
      if (!now.same_value)
        return &write;
      if (write.owner == owner && write.warp == now.who.warp)
        write.lanes |= 1U << now.who.lane;
      else if (write.owner == owner)
        cell.agreeing |= warp_bit;
      else // blocks that each write and then read the same value: the latest may read it
        write = trace_of(owner, now, clock, write.unchanging);
    } else {
      const bool agreed = write.owner == owner && (cell.agreeing & warp_bit) != 0;
      if (!write.unchanging && !agreed)
        return &write;
    }
  }
  // A write that changes nothing cannot disturb a reader.
  if (now.writes() && !now.same_value)
    for (const Trace& read : cell.reads)
      if (!read.empty() && !(read.strong && now.strong) && !ordered(here, read, owner, now))
        return &read;
  return nullptr;
}

void RaceDetector::State::remember_read(const LiveBlock& here, Cell& cell, std::uint32_t owner,
                                        const Access& now, Clock clock) const {
  const std::uint32_t lane = 1U << now.who.lane;
  const Trace fresh = trace_of(owner, now, clock, false);
  for (Trace& read : cell.reads) {
    if (read.empty() || read.owner != owner || read.warp != now.who.warp)
      continue;
    // A plain reader has more to fear from writers than a strong one: it is the one to keep.
    if (now.strong && !read.strong)
      return;
    const LaneOrder& lanes = here.warps[now.who.warp].lanes;
    if (read.strong == now.strong && lanes.is_recent(read.clock)) {
      // Where some lanes met without the others, a reader must not look later than it was.
      const std::uint32_t before = lanes.unknown(now.who.lane, read.lanes & ~lane, read.clock);
      if (!lanes.by_pairs() || before == 0)
        read.clock = clock;
      read.lanes = before | lane;
      read.instruction = now.who.instruction;
    } else {
      read = fresh;
    }
    return;
  }
  for (Trace& read : cell.reads)
    if (read.empty() || ((now.strong <= read.strong) && ordered(here, read, owner, now))) {
      read = fresh;
      return;
    }
  // More than two unordered readers: forget one, but keep a reader of another block if there is
  // one.
  const bool first_is_ours = cell.reads[0].owner == owner && cell.reads[1].owner != owner;
  cell.reads[first_is_ours ? 0 : 1] = fresh;
}

// What the read-only cache holds may be older than any write of the launch, ordered or not.
std::optional<Race> RaceDetector::State::staleness(Cell& cell, std::uint32_t owner,
                                                   const Access& now) {
  Race race;
  race.second = now.who;
  race.second_touch = now.touch;
  race.stale = true;
  if (now.writes()) {
    if (cell.promise == 0)
      return std::nullopt;
    race.first = promises[cell.promise - 1];
    race.first_touch = Touch::read_only_load;
    return race;
  }
  if (now.touch == Touch::load)
    return std::nullopt;
  if (now.touch == Touch::read_only_load && cell.promise == 0) {
    promises.push_back(now.who);
    cell.promise = static_cast<std::uint32_t>(promises.size());
  }
  const Trace& write = cell.write;
  if (write.empty())
    return std::nullopt;
  race.first = {write.owner == owner ? now.who.block : write.owner, write.warp,
                static_cast<std::uint8_t>(std::countr_zero(write.lanes)), write.instruction};
  race.first_touch = write.touch;
  return race;
}

std::optional<Race> RaceDetector::State::touch_cell(LiveBlock& here, Cell& cell,
                                                    std::uint32_t owner, const Access& now,
                                                    Clock clock) {
  std::optional<Race> race = staleness(cell, owner, now);
  if (const Trace* other = conflict(here, cell, owner, now, clock); other != nullptr && !race) {
    const bool same_warp = other->owner == owner && other->warp == now.who.warp;
    const std::uint32_t others = same_warp ? other->lanes & ~(1U << now.who.lane) : other->lanes;
    race.emplace();
    race->first = {other->owner == owner ? now.who.block : other->owner, other->warp,
                   static_cast<std::uint8_t>(std::countr_zero(others)), other->instruction};
    race->first_touch = other->touch;
    race->second = now.who;
    race->second_touch = now.touch;
  }
  if (!now.writes()) {
    remember_read(here, cell, owner, now, clock);
  } else if (!now.same_value || cell.write.empty()) {
    // A relaxed atomic does not publish the plain write before it, so that must not be forgotten
    // until another block is known to come after it.
    if (!now.strong)
      cell.covered = {};
    else if (!cell.write.empty() && !cell.write.strong && cell.write.owner == owner)
      cell.covered = cell.write;
    else if (!cell.covered.empty() && cell.covered.owner != owner &&
             ordered(here, cell.covered, owner, now))
      cell.covered = {};
    cell.write = trace_of(owner, now, clock, now.same_value);
    cell.agreeing = 0;
    if (!now.strong) // every reader is ordered before it, or was just reported
      cell.reads = {};
  }
  return race;
}

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
  const Access now{who, touch, strong, same_value};
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
                                                      const Access& now, bool publishes) {
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
                                                bool same_value) {
  LiveBlock& here = state_->block(who.block);
  return state_->touch_region(here, {region, region_bytes, offset, size},
                              {who, touch, strong, same_value}, here.fenced_device);
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
