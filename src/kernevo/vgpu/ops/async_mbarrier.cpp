// mbarrier objects: counted arrivals in phases. An arrival publishes what its warp did, a
// successful wait takes it, which is what the race detector learns.
#include "kernevo/vgpu/execute/cluster.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/address.h"
#include "kernevo/vgpu/ops/async_barrier_word.h"
#include "kernevo/vgpu/ops/async_copies.h"
#include "kernevo/vgpu/ops/async_families.h"
#include "kernevo/vgpu/program/control.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

struct BarrierDetail : Detail {
  AddressOperand at;
  ptx::Space space = ptx::Space::generic;
  bool cluster = false;        // .shared::cluster
  std::uint32_t state = kNone; // arrive: where the state goes; wait: where it comes from
  std::uint32_t count = kNone; // slot of the count or of the bytes; kNone = `fixed`
  std::uint32_t fixed = 1;
  Opcode opcode = Opcode::mbarrier_arrive;
  bool expect_tx = false;
  bool no_increment = false;
  bool no_complete = false;
  bool parity = false;
};

// The barrier's word, checked to be an initialised object; null after a fault.
std::byte* barrier_at(Warp& warp, const Op& op, const BarrierDetail& detail, int lane,
                      std::uint64_t address, BarrierWord& barrier, std::uint64_t& word) {
  const Access access{detail.space, AccessKind::atomic, true, 8, false, detail.cluster};
  std::byte* memory = resolve(warp, op, lane, address, access);
  if (memory == nullptr)
    return nullptr;
  std::memcpy(&word, memory, sizeof word);
  if (!BarrierWord::is_valid(word)) {
    warp.raise(FindingKind::uninitialized_read, op, lane,
               "the mbarrier object was not initialised by mbarrier.init");
    return nullptr;
  }
  barrier = BarrierWord::decode(word);
  return memory;
}

// Where an object stands, for the race detector.
struct Object {
  RaceDetector* races = nullptr;
  std::uint32_t block = 0;
  std::uint32_t warp = 0;
  bool shared_by_cluster = false;
  std::uint64_t region = 0;
  std::uint64_t offset = 0;
};

Object object_at(Warp& warp, const std::byte* memory) {
  const BlockState* owner = shared_owner(*warp.block, memory);
  if (owner == nullptr)
    return {};
  return {state_of(warp).launch->races.get(),
          static_cast<std::uint32_t>(warp.block->number),
          static_cast<std::uint32_t>(warp.index),
          owner->cluster != nullptr,
          shared_region(*owner) + 1,
          static_cast<std::uint64_t>(memory - owner->shared)};
}

void take(Warp& warp, const std::byte* memory) {
  const Object object = object_at(warp, memory);
  if (object.races == nullptr)
    return;
  if (object.shared_by_cluster)
    object.races->acquire_from_cluster(object.block, object.warp, object.region, object.offset);
  else
    object.races->acquire(object.block, object.warp, object.offset);
}

void publish(Warp& warp, const std::byte* memory) {
  const Object object = object_at(warp, memory);
  if (object.races == nullptr)
    return;
  if (object.shared_by_cluster)
    object.races->release_to_cluster(object.block, object.warp, object.region, object.offset);
  else
    object.races->release(object.block, object.warp, object.offset);
}

void run_init(const Op& op, Warp& warp, LaneMask active) {
  const auto& detail = static_cast<const BarrierDetail&>(*op.detail);
  for (; active != 0; active &= active - 1) {
    const int lane = __builtin_ctz(active);
    const std::uint32_t count = warp.lanes<std::uint32_t>(detail.count)[lane];
    if (count == 0 || count > BarrierWord::kMaxCount) {
      warp.raise(FindingKind::bad_argument, op, lane,
                 "mbarrier.init with a count of " + std::to_string(count) +
                     "; it must be 1 to 1048575");
      return;
    }
    const std::uint64_t word = BarrierWord::initial(count).encode();
    std::byte bytes[8];
    std::memcpy(bytes, &word, sizeof bytes);
    const Access access{detail.space, AccessKind::store, false, 8};
    std::byte* memory = resolve(warp, op, lane, lane_address(warp, detail.at, lane), access, bytes);
    if (memory == nullptr)
      return;
    std::memcpy(memory, bytes, sizeof bytes);
  }
}

void run_inval(const Op& op, Warp& warp, LaneMask active) {
  const auto& detail = static_cast<const BarrierDetail&>(*op.detail);
  for (; active != 0; active &= active - 1) {
    const int lane = __builtin_ctz(active);
    const std::byte zeros[8] = {};
    const Access access{detail.space, AccessKind::store, false, 8};
    std::byte* memory = resolve(warp, op, lane, lane_address(warp, detail.at, lane), access, zeros);
    if (memory == nullptr)
      return;
    std::memcpy(memory, zeros, sizeof zeros);
  }
}

// One lane's arrival on the decoded word. False when the count does not fit.
bool apply(const BarrierDetail& detail, std::uint32_t amount, BarrierWord& barrier) {
  switch (detail.opcode) {
  case Opcode::mbarrier_expect_tx: barrier.expect_transactions(amount); return true;
  case Opcode::mbarrier_complete_tx: barrier.complete_transactions(amount); return true;
  case Opcode::cp_async_mbarrier_arrive:
    // Without .noinc the pending count goes up now and down when the copies land: here, at once.
    return !detail.no_increment || barrier.arrive(1);
  default: break;
  }
  if (detail.expect_tx) {
    barrier.expect_transactions(amount);
    amount = 1;
  }
  return detail.opcode == Opcode::mbarrier_arrive_drop ? barrier.drop(amount)
                                                       : barrier.arrive(amount);
}

void run_arrive(const Op& op, Warp& warp, LaneMask active) {
  const auto& detail = static_cast<const BarrierDetail&>(*op.detail);
  if (detail.opcode == Opcode::cp_async_mbarrier_arrive && !complete_all_copies(warp, active))
    return;
  for (; active != 0; active &= active - 1) {
    const int lane = __builtin_ctz(active);
    BarrierWord barrier;
    std::uint64_t word = 0;
    std::byte* memory =
        barrier_at(warp, op, detail, lane, lane_address(warp, detail.at, lane), barrier, word);
    if (memory == nullptr)
      return;
    const std::uint32_t amount =
        detail.count == kNone ? detail.fixed : warp.lanes<std::uint32_t>(detail.count)[lane];
    const std::uint32_t pending = barrier.pending;
    if (detail.no_complete && amount >= pending) {
      warp.raise(FindingKind::bad_argument, op, lane,
                 "an arrival marked .noComplete would complete the phase of the mbarrier (" +
                     std::to_string(amount) + " arriving, " + std::to_string(pending) +
                     " pending)");
      return;
    }
    if (!apply(detail, amount, barrier)) {
      warp.raise(FindingKind::bad_argument, op, lane,
                 "more threads arrive at the mbarrier than its phase waits for (" +
                     std::to_string(amount) + " arriving, " + std::to_string(pending) +
                     " pending)");
      return;
    }
    publish(warp, memory);
    const std::uint64_t updated = barrier.encode();
    std::memcpy(memory, &updated, sizeof updated);
    if (detail.state != kNone)
      warp.lanes<std::uint64_t>(detail.state)[lane] = word;
  }
}

void run_wait(const Op& op, Warp& warp, LaneMask active) {
  const auto& detail = static_cast<const BarrierDetail&>(*op.detail);
  LaneMask done = 0;
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    BarrierWord barrier;
    std::uint64_t word = 0;
    std::byte* memory =
        barrier_at(warp, op, detail, lane, lane_address(warp, detail.at, lane), barrier, word);
    if (memory == nullptr)
      return;
    const std::uint32_t parity =
        detail.parity ? warp.lanes<std::uint32_t>(detail.state)[lane]
                      : BarrierWord::decode(warp.lanes<std::uint64_t>(detail.state)[lane]).phase;
    if (!barrier.completed_phase(parity))
      continue;
    done |= 1U << static_cast<unsigned>(lane);
    take(warp, memory);
  }
  // try_wait may suspend: it does until the phase of at least one lane is complete, so that a phase
  // nobody will complete shows as a deadlock and not as an endless loop.
  if (detail.opcode == Opcode::mbarrier_try_wait && done == 0) {
    warp.must_wait = true;
    return;
  }
  LaneMask& result = warp.predicate(op.d);
  result = (result & ~active) | done;
}

void run_pending_count(const Op& op, Warp& warp, LaneMask active) {
  auto* out = warp.lanes<std::uint32_t>(op.d);
  const auto* state = warp.lanes<std::uint64_t>(op.a);
  for_each_lane(active, [&](int lane) { out[lane] = BarrierWord::decode(state[lane]).pending; });
}

Result<std::unique_ptr<BarrierDetail>>
barrier_operand(Lowering& lowering, const ptx::Instruction& instruction, std::size_t index) {
  if (instruction.operands.size() <= index)
    return tl::unexpected<Error>(lowering.unsupported(instruction, "an operand is missing"));
  auto detail = std::make_unique<BarrierDetail>();
  detail->opcode = instruction.opcode;
  detail->space = instruction.space;
  detail->cluster = instruction.has(Mod::shared_cluster);
  KERNEVO_TRY(at, lower_address(lowering, instruction, instruction.operands[index]));
  detail->at = at;
  return detail;
}

} // namespace

Result<void> lower_mbarrier_init(Lowering& lowering, const ptx::Instruction& instruction) {
  KERNEVO_TRY(detail, barrier_operand(lowering, instruction, 0));
  if (instruction.operands.size() != 2)
    return tl::unexpected<Error>(lowering.unsupported(instruction, "the count is missing"));
  KERNEVO_TRY(count, lowering.source(instruction, instruction.operands[1], Type::u32));
  detail->count = count;
  lowering.emit(run_init, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

Result<void> lower_mbarrier_inval(Lowering& lowering, const ptx::Instruction& instruction) {
  KERNEVO_TRY(detail, barrier_operand(lowering, instruction, 0));
  lowering.emit(run_inval, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

Result<void> lower_mbarrier_arrive(Lowering& lowering, const ptx::Instruction& instruction) {
  // With a state (or _) before the address, or without.
  const std::size_t at =
      !instruction.operands.empty() && instruction.operands[0].kind == Operand::Kind::address ? 0
                                                                                              : 1;
  KERNEVO_TRY(detail, barrier_operand(lowering, instruction, at));
  detail->expect_tx = instruction.has(Mod::expect_tx);
  detail->no_increment = instruction.has(Mod::noinc);
  detail->no_complete = instruction.has(Mod::nocomplete);
  if (at == 1 && instruction.operands[0].kind != Operand::Kind::sink) {
    KERNEVO_TRY(state, lowering.destination(instruction, instruction.operands[0], Type::b64));
    detail->state = state;
  }
  if (instruction.operands.size() > at + 1) {
    KERNEVO_TRY(count, lowering.source(instruction, instruction.operands[at + 1], Type::u32));
    detail->count = count;
  }
  lowering.emit(run_arrive, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

Result<void> lower_mbarrier_wait(Lowering& lowering, const ptx::Instruction& instruction) {
  KERNEVO_TRY(detail, barrier_operand(lowering, instruction, 1));
  if (instruction.operands.size() < 3)
    return tl::unexpected<Error>(lowering.unsupported(instruction, "the phase is missing"));
  detail->parity = instruction.has(Mod::parity);
  KERNEVO_TRY(done, lowering.destination(instruction, instruction.operands[0], Type::pred));
  KERNEVO_TRY(state, lowering.source(instruction, instruction.operands[2],
                                     detail->parity ? Type::u32 : Type::b64));
  detail->state = state;
  const bool blocking = instruction.opcode == Opcode::mbarrier_try_wait;
  Op& op = lowering.emit(run_wait, blocking ? OpKind::wait : OpKind::memory);
  op.d = done;
  op.detail = lowering.keep(std::move(detail));
  return {};
}

Result<void> lower_mbarrier_pending_count(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 2)
    return tl::unexpected<Error>(lowering.unsupported(instruction, "two operands are needed"));
  KERNEVO_TRY(count, lowering.destination(instruction, instruction.operands[0], Type::u32));
  KERNEVO_TRY(state, lowering.source(instruction, instruction.operands[1], Type::b64));
  Op& op = lowering.emit(run_pending_count);
  op.d = count;
  op.a = state;
  return {};
}

Result<void> lower_completion(Lowering& lowering, const ptx::Instruction& instruction,
                              std::size_t index, std::uint32_t bytes) {
  KERNEVO_TRY(detail, barrier_operand(lowering, instruction, index));
  detail->opcode = Opcode::mbarrier_complete_tx;
  detail->fixed = bytes;
  lowering.emit(run_arrive, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

bool complete_transactions(Warp& warp, const Op& op, int lane, std::uint64_t address,
                           const BarrierSpace& where, std::uint32_t bytes) {
  BarrierDetail detail;
  detail.space = where.space;
  detail.cluster = where.cluster;
  BarrierWord barrier;
  std::uint64_t word = 0;
  std::byte* memory = barrier_at(warp, op, detail, lane, address, barrier, word);
  if (memory == nullptr)
    return false;
  barrier.complete_transactions(bytes);
  publish(warp, memory);
  const std::uint64_t updated = barrier.encode();
  std::memcpy(memory, &updated, sizeof updated);
  return true;
}

} // namespace kernevo::vgpu::ops
