#include "kernevo/vgpu/sanitizer/race_state.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace kernevo::vgpu {
namespace {

Trace trace_of(std::uint32_t owner, const TrackedAccess& access, Clock clock, bool unchanging) {
  Trace trace;
  trace.owner = owner;
  trace.clock = clock;
  trace.instruction = access.who.instruction;
  trace.lanes = 1U << access.who.lane;
  trace.warp = access.who.warp;
  trace.touch = access.touch;
  trace.strong = access.strong;
  trace.narrow = access.narrow;
  trace.unchanging = unchanging;
  return trace;
}

// Strong accesses do not race with each other, those of block scope only where both are of one
// block.
bool both_strong(const Trace& before, std::uint32_t owner, const TrackedAccess& now) {
  return before.strong && now.strong && (before.owner == owner || !(before.narrow || now.narrow));
}

} // namespace

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
                                  const TrackedAccess& now) const {
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
                                           const TrackedAccess& now, Clock clock) const {
  Trace& write = cell.write;
  if (!cell.covered.empty() && !ordered(here, cell.covered, owner, now))
    return &cell.covered;
  if (!write.empty() && !both_strong(write, owner, now) && !ordered(here, write, owner, now)) {
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
      if (!read.empty() && !both_strong(read, owner, now) && !ordered(here, read, owner, now))
        return &read;
  return nullptr;
}

void RaceDetector::State::remember_read(const LiveBlock& here, Cell& cell, std::uint32_t owner,
                                        const TrackedAccess& now, Clock clock) const {
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
                                                   const TrackedAccess& now) {
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
                                                    std::uint32_t owner, const TrackedAccess& now,
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
} // namespace kernevo::vgpu
