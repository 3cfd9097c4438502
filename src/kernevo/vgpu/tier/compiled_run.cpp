#include "kernevo/vgpu/tier/compiled_run.h"

#include "kernevo/vgpu/execute/barrier.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace kernevo::vgpu {
namespace {

using analysis::Shape;

template <class T> T* lanes_at(std::byte* frame, const CompiledRegister& item) {
  return reinterpret_cast<T*>(frame + item.slot); // NOLINT
}

// The base of each group, read off its first running lane; false when the others do not follow.
template <class T>
bool collapse(std::byte* frame, const CompiledRegister& item, LaneMask mask, std::uint64_t* bases) {
  const T* lanes = lanes_at<T>(frame, item);
  const auto stride = static_cast<T>(item.shape.stride);
  const auto group = static_cast<unsigned>(item.shape.group);
  if (mask == kAllLanes) {
    T difference = 0;
    for (unsigned first = 0; first < kWarpSize; first += group)
      for (unsigned i = 0; i < group; ++i)
        difference |= static_cast<T>(lanes[first + i] - lanes[first] - static_cast<T>(stride * i));
    if (difference != 0)
      return false;
    for (unsigned first = 0; first < kWarpSize; first += group)
      bases[first / group] = lanes[first];
  } else {
    // Groups in which no lane runs get a harmless base: another one's.
    const LaneMask whole = group == kWarpSize ? kAllLanes : (LaneMask{1} << group) - 1;
    T some = 0;
    for (unsigned first = 0; first < kWarpSize; first += group) {
      const LaneMask part = mask >> first & whole;
      if (part == 0)
        continue;
      const auto position = static_cast<unsigned>(std::countr_zero(part));
      const auto base = static_cast<T>(lanes[first + position] - static_cast<T>(stride * position));
      for (LaneMask rest = part; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(rest));
        if (lanes[first + i] != static_cast<T>(base + static_cast<T>(stride * i)))
          return false;
      }
      some = base;
    }
    for (unsigned first = 0; first < kWarpSize; first += group) {
      const LaneMask part = mask >> first & whole;
      const auto position = static_cast<unsigned>(part == 0 ? 0 : std::countr_zero(part));
      bases[first / group] =
          part == 0 ? some
                    : static_cast<T>(lanes[first + position] - static_cast<T>(stride * position));
    }
  }
  const std::uint64_t alignment = item.shape.alignment;
  if (alignment > 1)
    for (unsigned i = 0; i < kWarpSize / group; ++i)
      if (bases[i] % alignment != 0)
        return false;
  return true;
}

template <class T>
void expand(std::byte* frame, const CompiledRegister& item, LaneMask mask,
            const std::uint64_t* bases) {
  T* lanes = lanes_at<T>(frame, item);
  const auto stride = static_cast<T>(item.shape.stride);
  const auto group = static_cast<unsigned>(item.shape.group);
  for (unsigned first = 0; first < kWarpSize; first += group) {
    const auto base = static_cast<T>(bases[first / group]);
    if (mask == kAllLanes) {
      for (unsigned i = 0; i < group; ++i)
        lanes[first + i] = static_cast<T>(base + static_cast<T>(stride * i));
      continue;
    }
    for (unsigned i = 0; i < group; ++i)
      if ((mask >> (first + i) & 1U) != 0)
        lanes[first + i] = static_cast<T>(base + static_cast<T>(stride * i));
  }
}

bool take_over(std::byte* frame, const CompiledRegister& item, LaneMask mask,
               std::uint64_t* scalars) {
  std::uint64_t* bases = scalars + item.scalar;
  switch (item.bytes) {
  case 0: {
    const LaneMask set = *lanes_at<LaneMask>(frame, item) & mask;
    *bases = set != 0 ? 1 : 0;
    return set == 0 || set == mask;
  }
  case 1: return collapse<std::uint8_t>(frame, item, mask, bases);
  case 2: return collapse<std::uint16_t>(frame, item, mask, bases);
  case 4: return collapse<std::uint32_t>(frame, item, mask, bases);
  default: return collapse<std::uint64_t>(frame, item, mask, bases);
  }
}

void give_back(std::byte* frame, const CompiledRegister& item, LaneMask mask,
               const std::uint64_t* scalars) {
  const std::uint64_t* bases = scalars + item.scalar;
  switch (item.bytes) {
  case 0: {
    LaneMask& lanes = *lanes_at<LaneMask>(frame, item);
    lanes = (*bases & 1U) != 0 ? lanes | mask : lanes & ~mask;
    break;
  }
  case 1: expand<std::uint8_t>(frame, item, mask, bases); break;
  case 2: expand<std::uint16_t>(frame, item, mask, bases); break;
  case 4: expand<std::uint32_t>(frame, item, mask, bases); break;
  default: expand<std::uint64_t>(frame, item, mask, bases); break;
  }
}

void find_allocation(CompiledContext* context, MemoryHit* hit, std::uint64_t first,
                     std::uint64_t span, std::uint32_t size, std::uint32_t store) {
  *hit = {};
  const Allocation* found = state_of(*context->warp).launch->memory->find(first);
  if (found == nullptr || found->pages != nullptr || found->strict || found->bytes < span ||
      found->base % size != 0 || (store != 0 && found->read_only))
    return;
  hit->base = found->base;
  hit->room = (found->bytes - span) / size + 1;
  hit->written = store != 0 ? found->written : nullptr;
}

void mark_written(CompiledContext* /*context*/, const MemoryHit* hit,
                  const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t size) {
  for_each_lane(
      mask, [&](int lane) { std::memset(hit->written + (addresses[lane] - hit->base), 1, size); });
}

void count(CompiledContext* context, const std::uint64_t* addresses, std::uint32_t mask,
           std::uint32_t size, std::uint32_t store) {
  count_request(*context->counters, addresses, mask, size, store != 0);
}

CompiledOutcome account(WarpState& warp, Activation& run);

// The next warp of the block, if it stands at a barrier that has opened and nothing else is to be
// decided about it. Never an earlier one: between rounds the scheduler looks at the limits.
WarpState* follower(const WarpState& warp) {
  BlockState& block = *warp.block;
  const std::size_t next = static_cast<std::size_t>(warp.index) + 1;
  if (next >= block.warps.size() || block.launch->options->order == BlockOrder::shuffled ||
      block.launch->stop.load(std::memory_order_relaxed))
    return nullptr;
  WarpState& other = block.warps[next];
  const bool goes_on = other.activation && other.activation->parked && other.splits.size() == 1 &&
                       other.splits.front().state == SplitState::ready && !other.watched &&
                       !other.strong_access;
  return goes_on ? &other : nullptr;
}

void pass_barrier(CompiledContext* context, std::uint32_t pc) {
  WarpState& warp = state_of(*context->warp);
  if (arrive_whole_warp(warp, pc))
    return;
  Activation& run = *warp.activation;
  BlockState& block = *warp.block;
  run.parked = true;
  if (&warp != block.scheduled) {
    const CompiledOutcome outcome = account(warp, run);
    warp.executed += outcome.executed;
    block.warp_instructions += outcome.executed;
    block.thread_instructions += outcome.threads;
    block.clock += outcome.executed;
  }
  WarpState* const next = follower(warp);
  if (next == nullptr) {
    run.fiber.pause();
    return;
  }
  if (&warp == block.scheduled) {
    block.clocked = run.context.executed - block.turn_start;
    block.clock += block.clocked;
  }
  // What the scheduler does before it resumes a warp.
  const Split& split = next->splits.front();
  next->spinning = false;
  next->deadline = next->executed + kWarpQuantum;
  next->current = split.frame;
  next->frame = split.frame->registers;
  next->activation->parked = false;
  block.last_run = next;
  run.fiber.hand_over(next->activation->fiber);
}

constexpr std::uint64_t kFar = 1U << 20U;

constexpr CompiledServices kServices = {find_allocation, mark_written, count, pass_barrier};

CompiledScratch& scratch_for(BlockState& block, const CompiledFunction& function) {
  for (CompiledScratch& scratch : block.compiled)
    if (scratch.function == &function)
      return scratch;
  CompiledScratch& made = block.compiled.emplace_back();
  made.function = &function;
  made.hits.resize(function.hits);
  made.entries.resize(function.entries.size());
  return made;
}

} // namespace

namespace {

CompiledOutcome account(WarpState& warp, Activation& run) {
  CompiledOutcome outcome;
  outcome.entered = true;
  outcome.parked = run.parked;
  const auto width = static_cast<std::uint64_t>(std::popcount(run.mask));
  outcome.executed = run.context.executed - std::exchange(run.told_executed, run.context.executed);
  outcome.threads = outcome.executed * width -
                    (run.context.idle - std::exchange(run.told_idle, run.context.idle));
  warp.block->compiled_instructions += outcome.executed;
  if (run.parked || run.exit == kCompiledFault)
    return outcome;
  const CompiledPoint& point = run.function->exits[run.exit];
  outcome.pc = point.pc;
  outcome.look_due = run.context.look_due != 0;
  for (const CompiledRegister& item : point.live)
    if (item.shape.is_straight())
      give_back(warp.frame, item, run.mask, run.context.scalars);
  return outcome;
}

void run_function(void* argument) {
  auto& run = *static_cast<Activation*>(argument);
  run.exit = run.function->function(&run.context, run.entry);
  run.left = true;
}

} // namespace

bool entry_pays(BlockState& block, const CompiledFunction& function, std::uint32_t entry) {
  constexpr std::uint32_t enough = 64;
  constexpr std::uint32_t worthwhile = 8; // going in and out costs about as much as these
  CompiledScratch::Entry& seen = scratch_for(block, function).entries[entry];
  if (seen.runs < enough)
    return true;
  if (seen.executed < seen.runs * worthwhile)
    return false;
  seen = {};
  return true;
}

CompiledOutcome run_compiled(WarpState& warp, const CompiledFunction& function, std::uint32_t entry,
                             LaneMask mask, std::uint32_t limit) {
  BlockState& block = *warp.block;
  CompiledScratch& scratch = scratch_for(block, function);
  if (!warp.activation)
    warp.activation = std::make_unique<Activation>();
  Activation& run = *warp.activation;
  if (run.scalars.size() < function.scalars)
    run.scalars.resize(function.scalars);
  for (const CompiledRegister& item : function.entries[entry].live)
    if (item.shape.is_straight() && !take_over(warp.frame, item, mask, run.scalars.data())) {
      CompiledOutcome outcome;
      outcome.refuted = item.reg;
      return outcome;
    }
  run.function = &function;
  run.entry = entry;
  run.mask = mask;
  run.told_executed = warp.executed;
  run.told_idle = 0;
  CompiledContext& context = run.context;
  context.frame = warp.frame;
  context.warp = &warp;
  context.ops = warp.current->code->ops.data();
  context.shared = block.shared;
  context.shared_bytes = block.shared_bytes;
  context.parameters = warp.launch->parameters.data();
  context.hits = scratch.hits.data();
  context.scalars = run.scalars.data();
  context.services = &kServices;
  context.counters = &block.memory;
  context.executed = warp.executed;
  context.idle = 0;
  context.look_due = 0;
  context.mask = mask;
  context.limit = limit;
  if (function.barriers)
    run.fiber.run(run_function, &run);
  else
    run_function(&run);
  run.left = false;
  CompiledScratch::Entry& seen = scratch.entries[entry];
  ++seen.runs;
  // One that waits at a barrier has more to come.
  const std::uint64_t far = run.parked ? kFar : run.context.executed - warp.executed;
  seen.executed += static_cast<std::uint32_t>(std::min(far, kFar));
  return account(warp, run);
}

CompiledOutcome resume_compiled(WarpState& warp) {
  Activation& run = *warp.activation;
  if (!run.left) {
    run.parked = false;
    run.fiber.resume();
  }
  run.left = false;
  return account(warp, run);
}

void count_request(MemoryCounters& counters, const std::uint64_t* addresses, LaneMask mask,
                   std::uint32_t size, bool store) {
  if (mask == 0)
    return;
  constexpr unsigned sector_bits = 5;
  std::array<std::uint64_t, 4 * kWarpSize> sectors; // an access of 64 bytes may touch three
  std::size_t count = 0;
  for_each_lane(mask, [&](int lane) {
    const std::uint64_t last = (addresses[lane] + size - 1) >> sector_bits;
    for (std::uint64_t sector = addresses[lane] >> sector_bits; sector <= last; ++sector)
      if (count == 0 || sectors[count - 1] != sector)
        sectors[count++] = sector;
  });
  auto* const end = sectors.begin() + count;
  if (!std::is_sorted(sectors.begin(), end))
    std::sort(sectors.begin(), end);
  const auto distinct =
      static_cast<std::uint64_t>(std::unique(sectors.begin(), end) - sectors.begin());
  (store ? counters.global_store_requests : counters.global_load_requests) += 1;
  (store ? counters.global_store_sectors : counters.global_load_sectors) += distinct;
}

} // namespace kernevo::vgpu
