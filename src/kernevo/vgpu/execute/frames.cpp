#include "kernevo/vgpu/execute/frames.h"

#include "kernevo/base/random.h"
#include "kernevo/vgpu/execute/findings.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/leftovers.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/program/control.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace kernevo::vgpu {
namespace {

using ptx::Special;

// Far above the default stack of a CUDA thread (1 KiB), and 128 MiB for the largest block.
constexpr std::uint32_t kStackBytes = 128U << 10U;
constexpr std::uint32_t kStackDepth = 1024;

// Which one a block gets is nobody's promise: with a seed it is any, and some get several.
std::uint64_t multiprocessor_of(const LaunchState& launch, std::uint64_t block) {
  const auto count = static_cast<std::uint64_t>(std::max(launch.gpu->multiprocessors, 1));
  const std::uint64_t seed = launch.options->order_seed;
  return (seed == 0 ? block : CounterRandom(seed).bits(block)) % count;
}

template <class T> void fill(std::byte* slot, std::uint64_t value) {
  auto* lanes = reinterpret_cast<T*>(slot); // NOLINT
  std::fill_n(lanes, kWarpSize, static_cast<T>(value));
}

void broadcast(std::byte* slot, std::uint32_t size, std::uint64_t value) {
  switch (size) {
  case 0: {
    const auto mask = static_cast<LaneMask>(value);
    std::memcpy(slot, &mask, sizeof mask);
    break;
  }
  case 1: fill<std::uint8_t>(slot, value); break;
  case 2: fill<std::uint16_t>(slot, value); break;
  case 4: fill<std::uint32_t>(slot, value); break;
  default: fill<std::uint64_t>(slot, value); break;
  }
}

std::uint64_t special_value(const WarpState& warp, Special special, int lane) {
  const LaunchState& launch = *warp.launch;
  const auto& config = *launch.config;
  const auto lane_bit = LaneMask{1} << static_cast<unsigned>(lane);
  switch (special) {
  case Special::tid_x: return thread_index(warp, lane)[0];
  case Special::tid_y: return thread_index(warp, lane)[1];
  case Special::tid_z: return thread_index(warp, lane)[2];
  case Special::ntid_x: return config.block[0];
  case Special::ntid_y: return config.block[1];
  case Special::ntid_z: return config.block[2];
  case Special::ctaid_x: return warp.block->index[0];
  case Special::ctaid_y: return warp.block->index[1];
  case Special::ctaid_z: return warp.block->index[2];
  case Special::nctaid_x: return config.grid[0];
  case Special::nctaid_y: return config.grid[1];
  case Special::nctaid_z: return config.grid[2];
  // Without clusters every block is a cluster of its own.
  case Special::clusterid_x: return warp.block->index[0] / launch.cluster[0];
  case Special::clusterid_y: return warp.block->index[1] / launch.cluster[1];
  case Special::clusterid_z: return warp.block->index[2] / launch.cluster[2];
  case Special::nclusterid_x: return config.grid[0] / launch.cluster[0];
  case Special::nclusterid_y: return config.grid[1] / launch.cluster[1];
  case Special::nclusterid_z: return config.grid[2] / launch.cluster[2];
  case Special::cluster_ctaid_x: return warp.block->index[0] % launch.cluster[0];
  case Special::cluster_ctaid_y: return warp.block->index[1] % launch.cluster[1];
  case Special::cluster_ctaid_z: return warp.block->index[2] % launch.cluster[2];
  case Special::cluster_nctaid_x: return launch.cluster[0];
  case Special::cluster_nctaid_y: return launch.cluster[1];
  case Special::cluster_nctaid_z: return launch.cluster[2];
  case Special::cluster_ctarank: return warp.block->rank;
  case Special::cluster_nctarank: return launch.cluster_blocks;
  case Special::is_explicit_cluster: return launch.explicit_cluster ? kAllLanes : 0;
  case Special::laneid: return static_cast<std::uint64_t>(lane);
  case Special::warpid: return static_cast<std::uint64_t>(warp.index);
  case Special::nwarpid:
    return static_cast<std::uint64_t>(launch.gpu->max_threads_per_multiprocessor / kWarpSize);
  case Special::smid: return multiprocessor_of(launch, warp.block->number);
  case Special::nsmid: return static_cast<std::uint64_t>(launch.gpu->multiprocessors);
  case Special::lanemask_eq: return lane_bit;
  case Special::lanemask_lt: return lane_bit - 1;
  case Special::lanemask_le: return (lane_bit - 1) | lane_bit;
  case Special::lanemask_gt: return ~((lane_bit - 1) | lane_bit);
  case Special::lanemask_ge: return ~(lane_bit - 1);
  case Special::dynamic_smem_size: return config.dynamic_shared;
  case Special::total_smem_size:
  case Special::aggr_smem_size: return launch.shared_bytes;
  case Special::reserved_smem_begin: return launch.reserved_shared;
  case Special::reserved_smem_second: return launch.reserved_shared + kReservedShared / 2;
  case Special::reserved_smem_end: return launch.reserved_shared + kReservedShared;
  case Special::envreg1: return launch.grid_workspace >> 32U;
  case Special::envreg2: return launch.grid_workspace & 0xFFFFFFFFU;
  default: return 0;
  }
}

bool is_uniform(Special special) {
  switch (special) {
  case Special::tid_x:
  case Special::tid_y:
  case Special::tid_z:
  case Special::laneid:
  case Special::lanemask_eq:
  case Special::lanemask_lt:
  case Special::lanemask_le:
  case Special::lanemask_gt:
  case Special::lanemask_ge: return false;
  default: return true;
  }
}

// The rest is the same in every block for the same warp of it.
bool depends_on_block(Special special) {
  switch (special) {
  case Special::ctaid_x:
  case Special::ctaid_y:
  case Special::ctaid_z:
  case Special::clusterid_x:
  case Special::clusterid_y:
  case Special::clusterid_z:
  case Special::cluster_ctaid_x:
  case Special::cluster_ctaid_y:
  case Special::cluster_ctaid_z:
  case Special::cluster_ctarank:
  case Special::smid: return true;
  default: return false;
  }
}

void fill_specials(const WarpState& warp, const Code& code, std::byte* registers,
                   bool of_block_only) {
  for (const Code::SpecialSlot& slot : code.specials) {
    if (of_block_only && !depends_on_block(slot.special))
      continue;
    if (is_uniform(slot.special)) {
      broadcast(registers + slot.offset, slot.size, special_value(warp, slot.special, 0));
      continue;
    }
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const std::uint64_t value = special_value(warp, slot.special, lane);
      std::memcpy(registers + slot.offset + slot.size * static_cast<std::uint32_t>(lane), &value,
                  slot.size);
    }
  }
}

// A warp's frame of the kernel from an earlier block: what is not a register is still in place.
Frame* reuse_frame(WarpState& warp, const Code& code, LaneMask lanes) {
  if (warp.launch->sanitize || warp.spare.empty() || warp.spare.back()->code != &code ||
      warp.spare.back()->parent != nullptr)
    return nullptr;
  std::unique_ptr<Frame> frame = std::move(warp.spare.back());
  warp.spare.pop_back();
  for (const Code::FramePart& part : code.read_unset)
    std::memset(frame->registers + part.offset, 0, part.bytes);
  fill_specials(warp, code, frame->registers, true);
  frame->lanes = lanes;
  return warp.frames.emplace_back(std::move(frame)).get();
}

std::unique_ptr<Frame> fresh_frame(WarpState& warp, std::size_t bytes) {
  std::unique_ptr<Frame> frame;
  if (!warp.spare.empty()) {
    frame = std::move(warp.spare.back());
    warp.spare.pop_back();
  } else {
    frame = std::make_unique<Frame>();
  }
  if (frame->capacity < bytes) {
    constexpr std::size_t alignment = 64;
    frame->storage = std::make_unique_for_overwrite<std::byte[]>(bytes + alignment);
    void* start = frame->storage.get();
    std::size_t space = bytes + alignment;
    frame->registers = static_cast<std::byte*>(std::align(alignment, bytes, start, space));
    frame->capacity = bytes;
  }
  return frame;
}

void grow_local(WarpState& warp, std::uint32_t bytes) {
  if (bytes <= warp.local_stride)
    return;
  const std::uint32_t stride = std::bit_ceil(std::max<std::uint32_t>(bytes, 64));
  std::vector<std::byte> larger(std::size_t{stride} * kWarpSize);
  fill_with(larger, warp.leftover);
  for (std::size_t lane = 0; lane < kWarpSize; ++lane)
    std::copy_n(warp.local.begin() + static_cast<std::ptrdiff_t>(lane * warp.local_stride),
                warp.local_stride, larger.begin() + static_cast<std::ptrdiff_t>(lane * stride));
  warp.local = std::move(larger);
  warp.local_stride = stride;
}

} // namespace

std::vector<std::byte> frame_image(const LaunchState& launch, const Code& code) {
  // Under the sanitizer a register nobody has set holds a NaN, not a convenient zero.
  std::vector<std::byte> image(code.frame_bytes, launch.sanitize ? std::byte{0xFF} : std::byte{0});
  for (const Code::Constant& constant : code.constants)
    broadcast(image.data() + constant.offset, constant.size, constant.bits);
  for (const Code::SymbolSlot& slot : code.symbols) {
    auto value = static_cast<std::uint64_t>(slot.addend);
    if (slot.kind == Code::SymbolKind::param)
      value += kStackParams;
    if (slot.kind == Code::SymbolKind::variable)
      value += launch.program->variables[slot.symbol]->space == ptx::Space::shared
                   ? launch.shared.offsets[slot.symbol]
                   : launch.addresses[slot.symbol];
    broadcast(image.data() + slot.offset, slot.size, value);
  }
  return image;
}

Frame* push_frame(WarpState& warp, const Code& code, Frame* parent, std::uint32_t return_pc,
                  LaneMask lanes) {
  const std::uint32_t base =
      parent == nullptr ? 0
                        : parent->local_base + parent->code->local_bytes + parent->dynamic_bytes;
  const std::uint32_t depth = parent == nullptr ? 0 : parent->depth + 1;
  if (base + code.local_bytes > kStackBytes || depth > kStackDepth) {
    const Op& call = parent == nullptr ? code.ops.front() : parent->code->ops[return_pc - 1];
    if (parent == nullptr) {
      warp.current = warp.entry;
      Finding finding = finding_at(*warp.launch, FindingKind::stack_overflow, code, 0);
      finding.message = fmt::format("{} needs {} bytes of local memory per thread, the limit is {}",
                                    warp.launch->kernel_name, code.local_bytes, kStackBytes);
      warp.faulted = true;
      warp.launch->record(std::move(finding));
    } else {
      warp.raise(FindingKind::stack_overflow, call, std::countr_zero(lanes),
                 fmt::format("call stack of {} functions and {} bytes overflows", depth,
                             base + code.local_bytes));
    }
    return nullptr;
  }
  grow_local(warp, base + code.local_bytes);
  if (parent == nullptr)
    if (Frame* known = reuse_frame(warp, code, lanes))
      return known;
  auto fresh = fresh_frame(warp, code.frame_bytes);
  const std::vector<std::byte>& image = warp.launch->images[code.index];
  std::memcpy(fresh->registers, image.data(), image.size());
  fill_specials(warp, code, fresh->registers, false);
  if (const std::uint64_t shared = warp.block->shared_base; shared != 0)
    for (const Code::SymbolSlot& slot : code.symbols)
      if (slot.kind == Code::SymbolKind::variable &&
          warp.launch->program->variables[slot.symbol]->space == ptx::Space::shared)
        broadcast(fresh->registers + slot.offset, slot.size,
                  shared + warp.launch->shared.offsets[slot.symbol] +
                      static_cast<std::uint64_t>(slot.addend));
  if (base != 0)
    for (const Code::SymbolSlot& slot : code.symbols)
      if (slot.kind != Code::SymbolKind::variable)
        broadcast(fresh->registers + slot.offset, slot.size,
                  base + static_cast<std::uint64_t>(slot.addend) +
                      (slot.kind == Code::SymbolKind::param ? kStackParams : 0));
  fresh->code = &code;
  fresh->parent = parent;
  fresh->return_pc = return_pc;
  fresh->local_base = base;
  fresh->dynamic_bytes = 0;
  fresh->depth = depth;
  fresh->lanes = lanes;
  return warp.frames.emplace_back(std::move(fresh)).get();
}

std::uint32_t extend_frame(WarpState& warp, const Op& op, int lane, std::uint64_t bytes,
                           std::uint64_t alignment) {
  Frame& frame = *warp.current;
  const std::uint64_t top =
      std::uint64_t{frame.local_base} + frame.code->local_bytes + frame.dynamic_bytes;
  const std::uint64_t start = (top + alignment - 1) / alignment * alignment;
  const std::uint64_t end = start + std::min<std::uint64_t>(bytes, kStackBytes + 1);
  if (end > kStackBytes) {
    warp.raise(FindingKind::stack_overflow, op, lane,
               fmt::format("alloca of {} bytes overflows the stack of {}", bytes, kStackBytes));
    return kNone;
  }
  const auto own = static_cast<std::uint32_t>(end - frame.local_base - frame.code->local_bytes);
  // The frames above start at a multiple of 16.
  frame.dynamic_bytes = (own + 15) / 16 * 16;
  grow_local(warp, frame.local_base + frame.code->local_bytes + frame.dynamic_bytes);
  return static_cast<std::uint32_t>(start);
}

void leave_frame(WarpState& warp, Frame* frame, LaneMask lanes) {
  frame->lanes &= ~lanes;
  if (frame->lanes != 0)
    return;
  const auto place = std::find_if(warp.frames.rbegin(), warp.frames.rend(),
                                  [&](const auto& item) { return item.get() == frame; });
  warp.spare.push_back(std::move(*place));
  warp.frames.erase(std::next(place).base());
}

std::byte* place_of(WarpState& warp, const Frame& frame, const CallDetail::Place& place, int lane) {
  if (place.in_register)
    return frame.registers + place.offset +
           std::size_t{place.bytes} * static_cast<std::size_t>(lane);
  return warp.local_of(lane) + frame.local_base + place.offset;
}

std::uint32_t entry_instruction(const WarpState& warp, const Op& op) {
  const Frame* frame = warp.current;
  std::uint32_t instruction = op.instruction;
  for (; frame->parent != nullptr; frame = frame->parent)
    instruction = frame->parent->code->ops[frame->return_pc - 1].instruction;
  return instruction;
}

} // namespace kernevo::vgpu
