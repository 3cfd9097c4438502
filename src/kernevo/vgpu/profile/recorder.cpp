#include "kernevo/vgpu/profile/recorder.h"

#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/memory/resolve.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace kernevo::vgpu {
namespace {

using ptx::Mod;
using ptx::Space;

constexpr std::uint64_t kSector = 32;
constexpr std::uint64_t kSectorsPerLine = 4;
constexpr std::uint64_t kBanks = 32;
constexpr std::uint64_t kBankBytes = 4;
// Room for 2^40 bytes of each allocation.
constexpr unsigned kOrdinalShift = 35;
// Local memory of a warp, beyond all allocations.
constexpr std::uint64_t kLocalOrdinal = 1U << 20U;

MemoryAction action_of(AccessKind kind) {
  return kind == AccessKind::load    ? MemoryAction::load
         : kind == AccessKind::store ? MemoryAction::store
                                     : MemoryAction::atomic;
}

std::uint64_t distinct(std::vector<std::uint64_t>& values) {
  // Lanes mostly go up in memory.
  if (!std::is_sorted(values.begin(), values.end()))
    std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values.size();
}

// The entry for this kind of access, made if it is the first.
AccessCounts& entry_of(std::vector<AccessCounts>& all, MemorySpace space, MemoryAction action) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const AccessCounts& a) {
    return a.space == space && a.action == action;
  });
  return found == all.end() ? all.emplace_back(AccessCounts{space, action}) : *found;
}

std::uint64_t times(double weight, std::uint64_t count) {
  return weight == 1
             ? count
             : static_cast<std::uint64_t>(std::llround(weight * static_cast<double>(count)));
}

void add_weighted(AccessCounts& sum, const AccessCounts& one, double weight) {
  for (const auto member :
       {&AccessCounts::requests, &AccessCounts::threads, &AccessCounts::useful_bytes,
        &AccessCounts::sectors, &AccessCounts::lines, &AccessCounts::l1_hits,
        &AccessCounts::wavefronts, &AccessCounts::collisions})
    sum.*member += times(weight, one.*member);
}

std::string opcode_text(const ptx::Instruction& instruction) {
  std::string text(ptx::name_of(instruction.opcode));
  if (instruction.space != Space::generic)
    text += fmt::format(".{}", ptx::name_of(instruction.space));
  for (const Mod mod : instruction.modifiers)
    text += fmt::format(".{}", ptx::name_of(mod));
  if (instruction.vector_width > 1)
    text += fmt::format(".v{}", instruction.vector_width);
  for (const ptx::Type type : instruction.types)
    text += fmt::format(".{}", ptx::name_of(type));
  return text;
}

} // namespace

Recorder::Recorder(const Program& program, Memory& memory, std::uint64_t l1_bytes,
                   const std::vector<LaunchConfig::Counted>& counted, std::uint64_t most_counted)
    : program_(program), memory_(memory), l1_bytes_(l1_bytes), most_counted_(most_counted) {
  for (const LaunchConfig::Counted& one : counted)
    weights_[one.block] = one.weight;
}

double Recorder::weight_of(std::uint64_t block) const {
  const auto found = weights_.find(block);
  return found == weights_.end() ? 1.0 : found->second;
}

void Recorder::turn_to(std::uint64_t block) {
  block_ = block;
  block_instructions_ = &instructions_[block];
  sums_ = &sums_by_weight_[weight_of(block)];
  if (sums_->counts.empty())
    for (const Code& code : program_.codes)
      sums_->counts.emplace_back(code.ops.size());
}

void Recorder::touch(int lane, Space space, const Access& access, std::uint64_t address) {
  if (space == Space::param)
    return;
  MemorySpace counted = MemorySpace::global;
  if (space == Space::shared)
    counted = MemorySpace::shared;
  else if (space == Space::local)
    counted = MemorySpace::local;
  else {
    if (hit_ == nullptr || address - hit_->base >= hit_->bytes)
      hit_ = memory_.find(address);
    if (hit_ != nullptr && hit_->constant)
      counted = MemorySpace::constant;
  }
  touches_.push_back(
      {address, access.size, counted, action_of(access.kind), static_cast<std::uint8_t>(lane)});
}

void Recorder::finish_request() {
  const Touched& one = touches_.front();
  if (std::all_of(touches_.begin(), touches_.end(), [&](const Touched& t) {
        return t.space == one.space && t.action == one.action;
      })) {
    part_.swap(touches_);
    touches_.clear();
    count_part(part_.front().space, part_.front().action);
    return;
  }
  while (!touches_.empty()) {
    const Touched first = touches_.front();
    const auto rest =
        std::stable_partition(touches_.begin(), touches_.end(), [&](const Touched& t) {
          return t.space == first.space && t.action == first.action;
        });
    part_.assign(touches_.begin(), rest);
    touches_.erase(touches_.begin(), rest);
    count_part(first.space, first.action);
  }
}

bool Recorder::bypasses_l1() const {
  const ptx::Instruction& instruction = code_->function->instructions[code_->ops[op_].instruction];
  for (const Mod mod : {Mod::cg, Mod::cv, Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::mmio})
    if (instruction.has(mod))
      return true;
  return false;
}

Recorder::BlockRecord& Recorder::record() {
  if (record_ == nullptr || record_block_ != block_) {
    auto found = blocks_.find(block_);
    if (found == blocks_.end())
      found = blocks_.emplace(block_, BlockRecord{SectorCache(l1_bytes_)}).first;
    record_ = &found->second;
    record_block_ = block_;
  }
  return *record_;
}

void Recorder::find_sectors(MemorySpace space, MemoryAction action) {
  sectors_.clear();
  if (space == MemorySpace::local) {
    // The words of the 32 lanes at one address stand side by side.
    const std::uint64_t base = (kLocalOrdinal + warp_) << kOrdinalShift;
    for (const Touched& t : part_)
      for (std::uint64_t at = t.address / 4; at <= (t.address + t.size - 1) / 4; ++at)
        sectors_.push_back(base + at * kSectorsPerLine + t.lane / 8U);
    distinct(sectors_);
    return;
  }
  for (const Touched& t : part_) {
    if (hit_ == nullptr || t.address - hit_->base >= hit_->bytes)
      hit_ = memory_.find(t.address);
    if (hit_ == nullptr)
      continue; // the device heap
    const std::uint64_t offset = t.address - hit_->base;
    const std::uint64_t base = ordinal_of(hit_) << kOrdinalShift;
    for (std::uint64_t at = offset / kSector; at <= (offset + t.size - 1) / kSector; ++at)
      if (sectors_.empty() || sectors_.back() != base + at)
        sectors_.push_back(base + at);
  }
  distinct(sectors_);
  for (const std::uint64_t sector : sectors_)
    footprints_.touch(block_, *known_[sector >> kOrdinalShift],
                      sector & ((std::uint64_t{1} << kOrdinalShift) - 1),
                      action != MemoryAction::store, action != MemoryAction::load);
}

std::uint64_t Recorder::ordinal_of(const Allocation* allocation) {
  if (allocation != last_known_) {
    const auto [found, added] = ordinals_.try_emplace(allocation, known_.size());
    if (added)
      known_.push_back(allocation);
    last_known_ = allocation;
    last_ordinal_ = found->second;
  }
  return last_ordinal_;
}

void Recorder::count_part(MemorySpace space, MemoryAction action) {
  AccessCounts& counts =
      entry_of(sums_->accesses[{code_->index, code_->ops[op_].instruction}], space, action);
  ++counts.requests;
  LaneMask lanes = 0;
  std::vector<std::uint64_t>& starts = starts_;
  starts.clear();
  for (const Touched& t : part_) {
    lanes |= LaneMask{1} << t.lane;
    starts.push_back(t.address);
  }
  counts.threads += static_cast<unsigned>(__builtin_popcount(lanes));
  const std::uint64_t size = part_.front().size;
  // Local addresses are the lane's own.
  counts.useful_bytes += size * (space == MemorySpace::local ? starts.size() : distinct(starts));
  if (action == MemoryAction::atomic)
    counts.collisions += part_.size() - starts.size();

  switch (space) {
  case MemorySpace::constant: counts.wavefronts += starts.size(); break;
  case MemorySpace::shared: {
    // A bank gives one word a pass; lanes that want the same word share it.
    std::vector<std::uint64_t>& words = words_;
    words.clear();
    for (const std::uint64_t start : starts)
      for (std::uint64_t at = start / kBankBytes; at <= (start + size - 1) / kBankBytes; ++at)
        words.push_back(at);
    distinct(words);
    std::array<std::uint64_t, kBanks> passes{};
    for (const std::uint64_t word : words)
      ++passes.at(word % kBanks);
    const std::uint64_t wavefronts = *std::max_element(passes.begin(), passes.end());
    counts.wavefronts += wavefronts;
    record().wavefronts += wavefronts;
    break;
  }
  case MemorySpace::global:
  case MemorySpace::local: {
    find_sectors(space, action);
    counts.sectors += sectors_.size();
    std::uint64_t line = ~std::uint64_t{0};
    const bool cached = action == MemoryAction::load && !bypasses_l1();
    // What a thread puts on its stack it will want back: L1 keeps a copy of what it writes through.
    const bool kept = action == MemoryAction::store && space == MemorySpace::local;
    BlockRecord& block = record();
    for (const std::uint64_t sector : sectors_) {
      counts.lines += std::exchange(line, sector / kSectorsPerLine) != line ? 1 : 0;
      const bool hit = (cached || kept) && block.l1.load(sector);
      counts.l1_hits += cached && hit ? 1 : 0;
      if (!hit && space == MemorySpace::global)
        ++block.left_l1;
    }
    break;
  }
  }
}

std::optional<InstructionCounts> Recorder::weighted(const Code& code,
                                                    std::uint32_t instruction) const {
  // An instruction of several ops is executed when its first one is.
  const std::uint32_t first = code.first_op[instruction];
  InstructionCounts entry;
  for (const auto& [weight, sums] : sums_by_weight_) {
    const std::vector<Count>& ops = sums.counts[code.index];
    entry.executions += times(weight, ops[first].executions);
    entry.threads += times(weight, ops[first].threads);
    for (std::uint32_t op = first; op < code.first_op[instruction + 1]; ++op)
      entry.diverged += times(weight, ops[op].diverged);
    if (const auto found = sums.accesses.find({code.index, instruction});
        found != sums.accesses.end())
      for (const AccessCounts& a : found->second)
        add_weighted(entry_of(entry.accesses, a.space, a.action), a, weight);
  }
  if (entry.executions == 0)
    return std::nullopt;
  // Rounding must not make what cannot be.
  entry.threads = std::min(entry.threads, entry.executions * std::uint64_t{kWarpSize});
  entry.diverged = std::min(entry.diverged, entry.executions);
  return entry;
}

LaunchCounts Recorder::take(const LaunchConfig& config) {
  if (!touches_.empty())
    finish_request();
  LaunchCounts result;
  result.grid = config.grid;
  result.block = config.block;
  for (const Code& code : program_.codes) {
    for (std::uint32_t i = 0; code.function != nullptr && i < code.function->instructions.size();
         ++i) {
      if (code.first_op.empty() || code.first_op[i] == code.first_op[i + 1])
        continue;
      std::optional<InstructionCounts> entry = weighted(code, i);
      if (!entry)
        continue;
      const ptx::Instruction& instruction = code.function->instructions[i];
      entry->ptx_line = static_cast<int>(instruction.line);
      if (instruction.source.line > 0) {
        entry->source_file = program_.module.files[instruction.source.file];
        entry->source_line = static_cast<int>(instruction.source.line);
      }
      entry->opcode = opcode_text(instruction);
      result.instructions.push_back(std::move(*entry));
    }
  }
  std::stable_sort(result.instructions.begin(), result.instructions.end(),
                   [](const auto& a, const auto& b) { return a.ptx_line < b.ptx_line; });
  for (const auto& [block, instructions] : instructions_) {
    BlockCounts counts{block, instructions, 0, weight_of(block)};
    if (const auto found = blocks_.find(block); found != blocks_.end()) {
      counts.global_sectors = found->second.left_l1;
      counts.wavefronts = found->second.wavefronts;
    }
    result.blocks.push_back(counts);
  }
  result.footprints = footprints_.summary(config.grid, result.blocks);
  return result;
}

} // namespace kernevo::vgpu
