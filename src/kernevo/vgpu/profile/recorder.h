// Profile mode: counts what a launch executes and touches. Every access goes lane by lane through
// resolve(), which tells the recorder; the accesses of one instruction are one request.
#pragma once

#include "kernevo/model/launch_counts.h"
#include "kernevo/vgpu/execute/block.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/profile/footprint.h"
#include "kernevo/vgpu/profile/sector_cache.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace kernevo::vgpu {

struct LaunchConfig; // see machine.h

class Recorder {
public:
  // `l1_bytes`: the part of L1 that one block can call its own.
  Recorder(const Program& program, Memory& memory, std::uint64_t l1_bytes);

  // The warp is about to execute an op for the active lanes. Ends the request before it.
  void begin(const WarpState& warp, const Code& code, std::uint32_t op, LaneMask active) {
    if (!touches_.empty())
      finish_request();
    Count& count = counts_[code.index][op];
    ++count.executions;
    count.threads += static_cast<unsigned>(__builtin_popcount(active));
    if (block_ != warp.block->number || block_instructions_ == nullptr)
      block_instructions_ = &instructions_[block_ = warp.block->number];
    ++*block_instructions_;
    warp_ = static_cast<std::uint32_t>(warp.index);
    code_ = &code;
    op_ = op;
  }
  // Lanes parted at the op that began last.
  void diverged() { ++counts_[code_->index][op_].diverged; }
  // The lane is about to access memory. Addresses are those inside the space.
  void touch(int lane, ptx::Space space, const Access& access, std::uint64_t address);

  LaunchCounts take(const LaunchConfig& config);

private:
  struct Count {
    std::uint64_t executions = 0;
    std::uint64_t threads = 0;
    std::uint64_t diverged = 0;
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
    std::uint64_t left_l1 = 0; // sectors
  };

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
  std::vector<std::vector<Count>> counts_; // by function and op
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<AccessCounts>> accesses_;
  Footprints footprints_;
  std::map<std::uint64_t, BlockRecord> blocks_;
  std::map<std::uint64_t, std::uint64_t> instructions_; // by block

  // The request in progress.
  const Code* code_ = nullptr;
  std::uint32_t op_ = 0;
  std::uint64_t block_ = 0;
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
