#include "kernevo/vgpu/memory/resolve.h"

#include "kernevo/vgpu/execute/cluster.h"
#include "kernevo/vgpu/execute/findings.h"
#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/program/kernels.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace kernevo::vgpu {
namespace {

using ptx::Space;

constexpr std::uint64_t kNullPage = 4096;

std::byte* host(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address); // NOLINT
}

std::string_view word_for(AccessKind kind) {
  switch (kind) {
  case AccessKind::load: return "load";
  case AccessKind::store: return "store";
  case AccessKind::atomic: return "atomic";
  }
  return "access";
}

std::string_view word_for(Touch touch) {
  switch (touch) {
  case Touch::load: return "load";
  case Touch::store: return "store";
  case Touch::atomic: return "atomic";
  case Touch::texture_load: return "texture load";
  case Touch::read_only_load: return "read-only load (ld.global.nc)";
  }
  return "access";
}

// One access being judged.
struct Check {
  WarpState& warp;
  const Op& op;
  int lane;
  const Access& access;
  Space space;
  std::uint64_t address; // inside the space

  Finding describe(FindingKind kind, std::string message, std::string buffer) const {
    Finding finding = finding_at(warp, kind, op, lane, std::move(message));
    finding.space = ptx::name_of(space);
    finding.address = address;
    finding.size = access.size;
    finding.buffer = std::move(buffer);
    return finding;
  }

  std::byte* fault(FindingKind kind, std::string message, std::string buffer = "") const {
    if (warp.faulted)
      return nullptr;
    warp.faulted = true;
    warp.launch->record(describe(kind, std::move(message), std::move(buffer)));
    return nullptr;
  }

  // Notes the first uninitialised read; sanitized launches run on one core.
  void suspect(std::string message, std::string buffer) const {
    if (!warp.launch->suspicion)
      warp.launch->suspicion =
          describe(FindingKind::uninitialized_read, std::move(message), std::move(buffer));
  }

  bool reads() const { return access.kind != AccessKind::store && !access.overwrites; }

  std::string what() const {
    return fmt::format("{} of {} bytes", word_for(access.kind), access.size);
  }

  bool aligned() const {
    if ((address & (access.size - 1)) == 0)
      return true;
    fault(FindingKind::misaligned,
          fmt::format("{} at {} address {:#x}, which is not a multiple of {}", what(),
                      ptx::name_of(space), address, access.size));
    return false;
  }

  Touch touch() const {
    return access.kind == AccessKind::load    ? access.as
           : access.kind == AccessKind::store ? Touch::store
                                              : Touch::atomic;
  }

  Actor actor() const {
    return {static_cast<std::uint32_t>(warp.block->number), static_cast<std::uint16_t>(warp.index),
            static_cast<std::uint8_t>(lane), warp.current->code->first_tag + op.instruction};
  }
};

std::string describe_actor(const Check& check, const Actor& actor, Touch touch) {
  const LaunchState& launch = *check.warp.launch;
  const Code* code = nullptr;
  const ptx::Instruction& at = launch.program->instruction_of(actor.instruction, &code);
  const auto& size = launch.config->block;
  const auto& grid = launch.config->grid;
  const std::uint32_t thread = actor.warp * std::uint32_t{kWarpSize} + actor.lane;
  std::string place = at.source.line > 0 ? fmt::format("line {}", at.source.line)
                                         : fmt::format("PTX line {}", at.line);
  std::string block;
  if (actor.block != check.warp.block->number)
    block = fmt::format(" of block ({},{},{})", actor.block % grid[0],
                        actor.block / grid[0] % grid[1], actor.block / grid[0] / grid[1]);
  return fmt::format("{} by thread ({},{},{}){} at {}", word_for(touch), thread % size[0],
                     thread / size[0] % size[1], thread / size[0] / size[1], block, place);
}

std::byte* report_race(const Check& check, const Race& race, const std::string& buffer,
                       bool shared) {
  if (race.stale)
    return check.fault(
        FindingKind::stale_read_only_load,
        fmt::format("{} + {} is loaded through the read-only cache and written in the same launch: "
                    "{}, {}; load it as usual, or in a later launch (`const __restrict__` promises "
                    "that nobody writes it)",
                    buffer, race.offset, describe_actor(check, race.first, race.first_touch),
                    describe_actor(check, race.second, race.second_touch)),
        buffer);
  return check.fault(
      shared ? FindingKind::shared_race : FindingKind::global_race,
      fmt::format("race on {} memory {} + {}: {} and {} are not ordered by any synchronisation",
                  shared ? "shared" : "global", buffer, race.offset,
                  describe_actor(check, race.first, race.first_touch),
                  describe_actor(check, race.second, race.second_touch)),
      buffer);
}

bool same_value(const Check& check, const std::byte* storage, const std::byte* new_bytes) {
  return check.access.kind == AccessKind::store && new_bytes != nullptr &&
         std::memcmp(storage, new_bytes, check.access.size) == 0;
}

// The shared variable that holds the offset: its name and where it starts.
std::pair<std::string, std::uint64_t> shared_variable_at(const LaunchState& launch,
                                                         std::uint64_t offset) {
  std::pair<std::string, std::uint64_t> best = {"shared memory", 0};
  for (std::size_t i = 0; i < launch.shared.offsets.size(); ++i) {
    const std::uint64_t start = launch.shared.offsets[i];
    if (start != kNowhere && start <= offset && (start > best.second || best.second == 0))
      best = {plain_variable_name(launch.program->variables[i]->name), start};
  }
  return best;
}

// Whose shared memory is meant. Null after a fault.
BlockState* owner_of(const Check& check, std::uint64_t& offset) {
  BlockState& own = *check.warp.block;
  offset = check.address;
  if (own.cluster == nullptr)
    return &own;
  const SharedPlace place = locate_shared(own, check.address);
  offset = place.offset;
  if (!check.access.cluster) {
    if (place.rank == 0 || place.block == &own)
      return &own;
    check.fault(FindingKind::out_of_bounds,
                fmt::format("{} at shared address {:#x}, which is not in the block's own shared "
                            "memory (that of others is .shared::cluster)",
                            check.what(), check.address));
    return nullptr;
  }
  if (place.block == nullptr) {
    check.fault(FindingKind::out_of_bounds,
                fmt::format("{} in the shared memory of the block of rank {}, the cluster has {} "
                            "blocks",
                            check.what(), place.rank, own.cluster->blocks.size()));
    return nullptr;
  }
  if (place.block->live_warps == 0) {
    check.fault(FindingKind::out_of_bounds,
                fmt::format("{} in the shared memory of the block of rank {}, which has exited: "
                            "synchronise the cluster before a block leaves",
                            check.what(), place.rank));
    return nullptr;
  }
  return place.block;
}

std::byte* resolve_shared(const Check& check, const std::byte* new_bytes) {
  WarpState& warp = check.warp;
  std::uint64_t offset = 0;
  BlockState* const owner = owner_of(check, offset);
  if (owner == nullptr)
    return nullptr;
  BlockState& block = *owner;
  const std::uint32_t size = check.access.size;
  if (offset > block.shared_bytes || size > block.shared_bytes - offset) {
    const auto [name, start] =
        shared_variable_at(*warp.launch, std::min(offset, block.shared_bytes));
    return check.fault(FindingKind::out_of_bounds,
                       fmt::format("{} at shared address {} ('{}' + {}), the block has {} bytes of "
                                   "shared memory",
                                   check.what(), offset, name, offset - start, block.shared_bytes),
                       name);
  }
  if (!check.aligned())
    return nullptr;
  std::byte* pointer = block.shared + offset;
  if (!warp.launch->sanitize)
    return pointer;
  std::uint8_t* flags = block.shared_written.data() + offset;
  // A race comes first: it is why the bytes may not be there yet.
  const bool same = same_value(check, pointer, new_bytes);
  RaceDetector& races = *warp.launch->races;
  if (auto race =
          block.cluster == nullptr
              ? races.shared_access(check.actor(), offset, size, check.touch(), check.access.strong,
                                    same)
              : races.cluster_access(check.actor(), static_cast<std::uint32_t>(block.number),
                                     shared_region(block), block.shared_bytes, offset, size,
                                     check.touch(), check.access.strong, same)) {
    const auto [name, start] = shared_variable_at(*warp.launch, race->offset);
    race->offset -= start;
    return report_race(check, *race, name, true);
  }
  if (check.reads()) {
    const auto* missing =
        std::find_if(flags, flags + size, [](std::uint8_t flag) { return flag != kWritten; });
    if (missing != flags + size) {
      const auto [name, start] = shared_variable_at(*warp.launch, offset);
      const std::string what =
          fmt::format("{} of shared memory '{}' + {}", check.what(), name, offset - start);
      if (*missing == kCopyInFlight)
        return check.fault(FindingKind::shared_race,
                           what + " before the cp.async that fills it was waited for", name);
      check.suspect(what + " that no thread of the block has written", name);
    }
  }
  if (check.access.kind != AccessKind::load) {
    std::memset(flags, kWritten, size);
    warp.last_effect[static_cast<std::size_t>(check.lane)] = entry_instruction(warp, check.op);
  }
  return pointer;
}

std::byte* outside(const Check& check) {
  const Memory& memory = *check.warp.launch->memory;
  const std::uint64_t address = check.address;
  if (address < kNullPage)
    return check.fault(
        FindingKind::null_pointer,
        fmt::format("{} through a null pointer (address {:#x})", check.what(), address));
  const Allocation* near = memory.nearest(address);
  if (near == nullptr)
    return check.fault(FindingKind::out_of_bounds,
                       fmt::format("{} at {:#x}, and nothing is allocated", check.what(), address));
  // Within the guard zone it is an overrun of that buffer, farther away a wild pointer.
  const std::uint64_t past = address - near->end();
  const std::uint64_t before = near->base - address;
  const std::uint64_t reach = std::max<std::uint64_t>(near->bytes, std::uint64_t{1} << 20U);
  if (address >= near->end() && past <= reach)
    return check.fault(FindingKind::out_of_bounds,
                       fmt::format("{} at {} + {}, {} bytes past its end of {} bytes", check.what(),
                                   near->name, address - near->base, past, near->bytes),
                       fmt::format("{} ({} bytes past its end)", near->name, past));
  if (address < near->base && before <= reach)
    return check.fault(
        FindingKind::out_of_bounds,
        fmt::format("{} at {} - {}, before its first byte", check.what(), near->name, before),
        fmt::format("{} ({} bytes before its start)", near->name, before));
  return check.fault(
      FindingKind::out_of_bounds,
      fmt::format("{} at {:#x}, not inside any allocation; nearest is '{}' of {} bytes "
                  "at {:#x}",
                  check.what(), address, near->name, near->bytes, near->base),
      near->name);
}

std::byte* resolve_heap(const Check& check, const std::byte* new_bytes) {
  LaunchState& launch = *check.warp.launch;
  const auto block = launch.memory->heap().find(check.address);
  if (!block || check.access.size > block->base + block->bytes - check.address)
    return check.fault(
        FindingKind::out_of_bounds,
        fmt::format("{} at {:#x} of the device heap, outside every live malloc block", check.what(),
                    check.address),
        "device heap");
  if (!check.aligned())
    return nullptr;
  std::byte* pointer = host(check.address);
  if (launch.sanitize) {
    const std::uint64_t offset = check.address - block->base;
    const bool same = same_value(check, pointer, new_bytes);
    if (const auto race = launch.races->global_access(
            check.actor(), block->base, block->bytes, offset, check.access.size, check.touch(),
            check.access.strong, same, check.access.block_scope))
      return report_race(check, *race, "device heap block", false);
  }
  return pointer;
}

std::byte* resolve_global(const Check& check, const std::byte* new_bytes) {
  WarpState& warp = check.warp;
  LaunchState& launch = *warp.launch;
  const std::uint64_t address = check.address;
  const std::uint32_t size = check.access.size;
  const Allocation*& hit = warp.hits[check.op.instruction % warp.hits.size()];
  if (hit == nullptr || address - hit->base >= hit->readable) {
    const Allocation* found = launch.memory->find_readable(address);
    if (found == nullptr)
      return launch.memory->heap().contains(address) ? resolve_heap(check, new_bytes)
                                                     : outside(check);
    hit = found;
  }
  const std::uint64_t offset = address - hit->base;
  if (size > hit->readable - offset)
    return check.fault(
        FindingKind::out_of_bounds,
        fmt::format("{} at {} + {}, {} bytes past its end of {} bytes", check.what(), hit->name,
                    offset, offset + size - hit->bytes, hit->bytes),
        fmt::format("{} ({} bytes past its end)", hit->name, offset + size - hit->bytes));
  if (!check.aligned())
    return nullptr;
  if (hit->pages != nullptr && !hit->pages->need(offset, size))
    return check.fault(FindingKind::memory_limit,
                       fmt::format("the blocks that run touch more than {} bytes of {}",
                                   hit->pages->filled(), hit->name),
                       hit->name);
  std::byte* pointer = host(address);
  const bool writes = check.access.kind != AccessKind::load;
  if (writes && hit->read_only)
    return check.fault(
        FindingKind::read_only_write,
        fmt::format("{} to read-only memory {} + {}", check.what(), hit->name, offset), hit->name);
  if (check.reads() && !hit->initialized && (launch.sanitize || hit->strict)) {
    const std::uint8_t* flags = hit->written + offset;
    if (std::find(flags, flags + size, 0) != flags + size) {
      std::string message =
          fmt::format("{} at {} + {}, which nothing has written", check.what(), hit->name, offset);
      if (!launch.sanitize)
        return check.fault(FindingKind::uninitialized_read, std::move(message), hit->name);
      check.suspect(std::move(message), hit->name);
    }
  }
  if (launch.sanitize) {
    if (!hit->read_only) {
      const bool same = same_value(check, pointer, new_bytes);
      if (const auto race = launch.races->global_access(
              check.actor(), hit->base, hit->bytes, offset, size, check.touch(),
              check.access.strong, same, check.access.block_scope))
        return report_race(check, *race, hit->name, false);
    }
    if (writes)
      warp.last_effect[static_cast<std::size_t>(check.lane)] = entry_instruction(warp, check.op);
  }
  if (writes && hit->written != nullptr)
    std::memset(hit->written + offset, 1, size);
  return pointer;
}

std::byte* resolve_local(const Check& check, std::uint64_t offset) {
  const Frame& frame = *check.warp.current;
  const std::uint64_t end =
      std::uint64_t{frame.local_base} + frame.code->local_bytes + frame.dynamic_bytes;
  if (offset > end || check.access.size > end - offset)
    return check.fault(FindingKind::out_of_bounds,
                       fmt::format("{} at {} address {}, the thread has {} bytes of it",
                                   check.what(), ptx::name_of(check.space), offset, end),
                       "local memory");
  if (!check.aligned())
    return nullptr;
  return check.warp.local_of(check.lane) + offset;
}

std::byte* resolve_param(const Check& check) {
  if (check.address >= kStackParams)
    return resolve_local(check, check.address - kStackParams);
  auto& buffer = check.warp.launch->parameters;
  if (check.access.kind != AccessKind::load)
    return check.fault(FindingKind::read_only_write,
                       fmt::format("{} to the kernel's parameters", check.what()), "parameters");
  if (check.address > buffer.size() || check.access.size > buffer.size() - check.address)
    return check.fault(FindingKind::out_of_bounds,
                       fmt::format("{} at parameter offset {}, there are {} bytes", check.what(),
                                   check.address, buffer.size()),
                       "parameters");
  if (!check.aligned())
    return nullptr;
  return buffer.data() + check.address;
}

} // namespace

std::byte* resolve(Warp& warp, const Op& op, int lane, std::uint64_t address, const Access& given,
                   const std::byte* new_bytes) {
  Space space = given.space;
  Access access = given;
  if (space == Space::generic) {
    space = Space::global;
    for (const Space windowed : {Space::shared, Space::local, Space::param})
      if (in_space(address, windowed)) {
        space = windowed;
        address = from_generic(address, windowed);
      }
    access.cluster = true;
  }
  WarpState& state = state_of(warp);
  if (access.strong && access.polls && access.kind != AccessKind::store)
    state.note_strong_access();
  if (state.block->recorder != nullptr)
    state.block->recorder->touch(lane, space, access, address);
  const Check check{state, op, lane, access, space, address};
  switch (space) {
  case Space::shared: return resolve_shared(check, new_bytes);
  case Space::local: return resolve_local(check, address);
  case Space::param: return resolve_param(check);
  default: return resolve_global(check, new_bytes);
  }
}

bool is_constant_address(const Warp& warp, std::uint64_t address) {
  const auto& state = static_cast<const WarpState&>(warp);
  const Allocation* found = state.launch->memory->find(address);
  return found != nullptr && found->constant;
}

} // namespace kernevo::vgpu
