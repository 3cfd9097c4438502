#include "kernevo/vgpu/ops/bulk_memory.h"

#include "kernevo/vgpu/execute/cluster.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/turns.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/memory/resolve.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Space;

// The largest aligned access at this address that stays inside the run.
std::uint32_t piece_at(std::uint64_t address, std::uint32_t left) {
  std::uint32_t piece = kBulkUnit;
  while (address % piece != 0 || piece > left)
    piece /= 2;
  return piece;
}

// The race detector's cells hold two bytes or more where tensors are copied; what is smaller must
// not be blamed for its neighbour.
Access access_of(const BulkPlace& place, AccessKind kind, std::uint32_t size) {
  return {place.space, kind, size == 1, size, false, place.cluster};
}

// After its first piece was let through: may the rest of the run go without asking? Only when
// nobody keeps books about single bytes.
bool whole_run_is_inside(WarpState& warp, const Op& op, const std::byte* first,
                         const BulkPlace& place, std::uint32_t bytes, bool writes) {
  if (warp.launch->sanitize)
    return false;
  if (const BlockState* owner = shared_owner(*warp.block, first))
    return static_cast<std::uint64_t>(first - owner->shared) + bytes <= owner->shared_bytes;
  const Allocation* hit = warp.hits[op.instruction % warp.hits.size()];
  return place.space == Space::global && hit != nullptr && hit->pages == nullptr &&
         hit->covers(place.address, place.address + bytes) &&
         (writes ? hit->written == nullptr : !hit->strict);
}

template <class T>
void update(std::byte* cell, bool contended, semantics::BulkReduction reduction, TensorType type,
            T value) {
  auto* place = reinterpret_cast<T*>(cell); // NOLINT
  if (!contended) {
    *place = static_cast<T>(semantics::reduce(reduction, type, *place, value));
    return;
  }
  const std::atomic_ref<T> shared(*place);
  T old = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(
      old, static_cast<T>(semantics::reduce(reduction, type, old, value)),
      std::memory_order_seq_cst)) {
  }
}

template <class T> T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

} // namespace

bool read_run(Warp& warp, const Op& op, int lane, const BulkPlace& from, std::uint32_t bytes,
              std::byte* to) {
  for (std::uint32_t at = 0; at < bytes;) {
    const std::uint32_t piece = piece_at(from.address + at, bytes - at);
    const std::byte* memory =
        resolve(warp, op, lane, from.address + at, access_of(from, AccessKind::load, piece));
    if (memory == nullptr)
      return false;
    if (at == 0 && whole_run_is_inside(state_of(warp), op, memory, from, bytes, false)) {
      std::memcpy(to, memory, bytes);
      return true;
    }
    std::memcpy(to + at, memory, piece);
    at += piece;
  }
  return true;
}

bool write_run(Warp& warp, const Op& op, int lane, const BulkPlace& to, std::uint32_t bytes,
               const std::byte* from) {
  for (std::uint32_t at = 0; at < bytes;) {
    const std::uint32_t piece = piece_at(to.address + at, bytes - at);
    std::byte* memory = resolve(warp, op, lane, to.address + at,
                                access_of(to, AccessKind::store, piece), from + at);
    if (memory == nullptr)
      return false;
    if (at == 0 && whole_run_is_inside(state_of(warp), op, memory, to, bytes, true)) {
      std::memcpy(memory, from, bytes);
      return true;
    }
    std::memcpy(memory, from + at, piece);
    at += piece;
  }
  return true;
}

bool reduce_run(Warp& warp, const Op& op, int lane, const BulkPlace& to, std::uint32_t bytes,
                const std::byte* from, semantics::BulkReduction reduction, TensorType type) {
  WarpState& state = state_of(warp);
  const bool contended = state.launch->contended && to.space == Space::global;
  if (contended && is_float(type) && !await_turn(state))
    return false;
  const std::uint32_t size = bytes_of(type);
  const Access access{to.space, AccessKind::atomic, true, size, false, to.cluster, false};
  for (std::uint32_t at = 0; at < bytes; at += size) {
    std::byte* cell = resolve(warp, op, lane, to.address + at, access);
    if (cell == nullptr)
      return false;
    switch (size) {
    case 1: update(cell, contended, reduction, type, load<std::uint8_t>(from + at)); break;
    case 2: update(cell, contended, reduction, type, load<std::uint16_t>(from + at)); break;
    case 4: update(cell, contended, reduction, type, load<std::uint32_t>(from + at)); break;
    default: update(cell, contended, reduction, type, load<std::uint64_t>(from + at)); break;
    }
  }
  return true;
}

std::vector<std::uint64_t> multicast(std::uint64_t address, std::uint32_t mask) {
  std::vector<std::uint64_t> addresses;
  for (; mask != 0; mask &= mask - 1)
    addresses.push_back((static_cast<std::uint64_t>(std::countr_zero(mask)) << kRankShift) +
                        address % kSharedPart);
  return addresses;
}

bool check_multiple(Warp& warp, const Op& op, int lane, const char* what, std::uint64_t value,
                    std::uint32_t unit) {
  if (value % unit == 0)
    return true;
  warp.raise(FindingKind::misaligned, op, lane,
             fmt::format("the {} of a bulk copy is {:#x}, which is not a multiple of {}", what,
                         value, unit));
  return false;
}

} // namespace kernevo::vgpu::ops
