// Profile mode: counts what a launch executes and touches. Every access goes lane by lane through
// resolve(), which tells the recorder; the accesses of one instruction are one request.
#pragma once

#include "kernevo/model/launch_counts.h"
#include "kernevo/vgpu/execute/block.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/profile/footprint.h"
#include "kernevo/vgpu/profile/sector_cache.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kernevo::vgpu {

class Recorder {
public:
  // `l1_bytes`: the part of L1 that one block can call its own. `counted`: the blocks that are,
  // with their weights; empty = all. `most_counted`: see LaunchConfig.
  Recorder(const Program& program, Memory& memory, std::uint64_t l1_bytes,
           const std::vector<LaunchConfig::Counted>& counted, std::uint64_t most_counted);

  bool counts(std::uint64_t block) const {
    return !full() && (weights_.empty() || weights_.contains(block));
  }
  // No more is counted.
  bool full() const { return most_counted_ != 0 && counted_ >= most_counted_; }

  // The warp is about to execute an op for the active lanes. Ends the request before it.
  void begin(const WarpState& warp, const Code& code, std::uint32_t op, LaneMask active) {
    if (!touches_.empty())
      finish_request();
    if (block_ != warp.block->number || block_instructions_ == nullptr)
      turn_to(warp.block->number);
    ++*block_instructions_;
    ++counted_;
    Count& count = sums_->counts[code.index][op];
    ++count.executions;
    count.threads += static_cast<unsigned>(__builtin_popcount(active));
    warp_ = static_cast<std::uint32_t>(warp.index);
    code_ = &code;
    op_ = op;
  }
  // Lanes parted at the op that began last.
  void diverged() { ++sums_->counts[code_->index][op_].diverged; }
  // The lane is about to access memory. Addresses are those inside the space.
  void touch(int lane, ptx::Space space, const Access& access, std::uint64_t address);

  LaunchCounts take(const LaunchConfig& config);

private:
  struct Count {
    std::uint64_t executions = 0;
    std::uint64_t threads = 0;
    std::uint64_t diverged = 0;
  };
  // Of the blocks of one weight.
  struct Sums {
    std::vector<std::vector<Count>> counts; // by function and op
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<AccessCounts>> accesses;
  };
  struct Touched {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    MemorySpace space = MemorySpace::global;
    MemoryAction action = MemoryAction::load;
    std::uint8_t lane = 0;
  };
  struct BlockRecord {
    SectorCache l1;
    std::uint64_t left_l1 = 0;    // sectors
    std::uint64_t wavefronts = 0; // of shared memory
  };

  void turn_to(std::uint64_t block);
  double weight_of(std::uint64_t block) const;
  // The sums of all weights, each times its own; nothing for an instruction that never ran.
  std::optional<InstructionCounts> weighted(const Code& code, std::uint32_t instruction) const;
  void finish_request();
  void count_part(MemorySpace space, MemoryAction action);
  // The sectors the part touches, each once, ascending, in numbers that do not depend on where the
  // host put the memory.
  void find_sectors(MemorySpace space, MemoryAction action);
  bool bypasses_l1() const;
  BlockRecord& record();
  // Allocations are numbered in the order of first touch.
  std::uint64_t ordinal_of(const Allocation* allocation);

  const Program& program_;
  Memory& memory_;
  std::uint64_t l1_bytes_;
  std::uint64_t most_counted_;
  std::uint64_t counted_ = 0;                         // warp instructions
  std::unordered_map<std::uint64_t, double> weights_; // by block; empty: 1 for all
  std::map<double, Sums> sums_by_weight_;
  Footprints footprints_;
  std::map<std::uint64_t, BlockRecord> blocks_;
  std::map<std::uint64_t, std::uint64_t> instructions_; // by block

  // The request in progress.
  const Code* code_ = nullptr;
  std::uint32_t op_ = 0;
  std::uint64_t block_ = 0;
  Sums* sums_ = nullptr; // of its weight
  std::uint64_t* block_instructions_ = nullptr;
  std::uint32_t warp_ = 0;
  std::vector<Touched> touches_;
  std::vector<Touched> part_; // those of one space and action
  std::vector<std::uint64_t> sectors_;
  const Allocation* hit_ = nullptr;
  std::map<const Allocation*, std::uint64_t> ordinals_;
  std::vector<const Allocation*> known_; // by ordinal
  const Allocation* last_known_ = nullptr;
  std::uint64_t last_ordinal_ = 0;
  BlockRecord* record_ = nullptr; // of record_block_
  std::uint64_t record_block_ = 0;
  std::vector<std::uint64_t> starts_; // kept for their memory
  std::vector<std::uint64_t> words_;
};

} // namespace kernevo::vgpu
