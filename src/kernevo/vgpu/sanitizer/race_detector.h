// Data races by happens-before. Threads of a warp are ordered by warp-level synchronisation, warps
// of a block by barriers, blocks by strong (volatile, atomic, release/acquire) accesses to a common
// address. Two accesses race when they touch the same byte, at least one writes, not both are
// strong, they do not write the same value, and neither happens before the other. Reports are exact
// for barriers; of fences the detector only asks that the publishing block has executed one, so it
// never blames a correct program. A write that leaves memory as it was disturbs nobody.
//
// The read-only cache knows no order at all: whatever it loads must not be written in the launch.
//
// Memory and time are bounded, always on the side of silence: of three or more unordered readers
// two are remembered; past `cell_bytes` further global memory is not followed (untracked());
// grids of more than 512 warps, and more strong addresses than fit 16 MiB, share clocks, which
// makes more accesses look ordered. One thread at a time may use a detector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace kernevo::vgpu {

struct Actor {
  std::uint32_t block = 0; // linear block index
  std::uint16_t warp = 0;
  std::uint8_t lane = 0;
  std::uint32_t instruction = 0; // opaque tag of the instruction, echoed in a report
};

enum class Touch : std::uint8_t {
  load,
  store,
  atomic,
  texture_load,   // by a cache that does not see what the launch writes
  read_only_load, // the same, with the promise that nobody writes during the launch
};

constexpr bool writes(Touch touch) {
  return touch == Touch::store || touch == Touch::atomic;
}

struct Race {
  Actor first;
  Touch first_touch = Touch::load;
  Actor second; // the one being made now
  Touch second_touch = Touch::store;
  std::uint64_t offset = 0; // byte inside the region
  bool stale = false;       // no race: a load by a cache that need not see what the launch writes
};

class RaceDetector {
public:
  // Granule: the largest power of two (1..16) that divides every access the module makes; the
  // detector keeps one cell per granule. `cell_bytes`: the most the cells of global memory may
  // take, at 64 bytes a granule; the default follows 32 MiB of float32.
  RaceDetector(std::uint64_t blocks_in_grid, std::uint32_t warps_per_block, std::uint32_t granule,
               std::uint64_t cell_bytes = std::uint64_t{512} << 20U);
  ~RaceDetector();

  // A block starts or ends (its shared-memory cells are dropped).
  void begin_block(std::uint32_t block, std::uint64_t shared_bytes);
  void end_block(std::uint32_t block);

  // `same_value`: the bytes written equal the bytes already there.
  std::optional<Race> shared_access(const Actor& who, std::uint64_t offset, std::uint32_t size,
                                    Touch touch, bool strong, bool same_value);
  // `region` identifies the allocation; cells are made on first touch. `block_scope`: strong among
  // the threads of its block alone.
  std::optional<Race> global_access(const Actor& who, std::uint64_t region,
                                    std::uint64_t region_bytes, std::uint64_t offset,
                                    std::uint32_t size, Touch touch, bool strong, bool same_value,
                                    bool block_scope = false);

  // Shared memory of a block in a cluster, its own or another's: `region` identifies it, `owner` is
  // the block it belongs to.
  std::optional<Race> cluster_access(const Actor& who, std::uint32_t owner, std::uint64_t region,
                                     std::uint64_t region_bytes, std::uint64_t offset,
                                     std::uint32_t size, Touch touch, bool strong, bool same_value);

  // The allocation was freed: whoever gets its memory next has nothing to do with its past.
  void forget_region(std::uint64_t region);

  // A barrier of these lanes of one warp (bar.warp.sync). Shuffles, votes and the like make lanes
  // wait for each other and order no accesses.
  void warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t lanes);
  // A barrier that these warps (bit set, warps 0..63) completed together: all before is ordered
  // before all after.
  void barrier(std::uint32_t block, std::uint64_t warps);
  // A fence by some thread of the block, at block or device scope. Strong accesses of a block that
  // never fenced order nothing: a relaxed atomic does not publish what was stored before it.
  enum class FenceScope : std::uint8_t { block, device };
  void fence(std::uint32_t block, FenceScope scope = FenceScope::device);
  // One-sided synchronisation on an object (bar.arrive, mbarrier): release publishes what the warp
  // has done, acquire takes what was published. `object` is any id unique within the block.
  void release(std::uint32_t block, std::uint32_t warp, std::uint64_t object);
  void acquire(std::uint32_t block, std::uint32_t warp, std::uint64_t object);
  // The same between blocks; `region` and `object` name the object in the whole grid.
  void release_to_cluster(std::uint32_t block, std::uint32_t warp, std::uint64_t region,
                          std::uint64_t object);
  void acquire_from_cluster(std::uint32_t block, std::uint32_t warp, std::uint64_t region,
                            std::uint64_t object);
  // Every thread of the block's cluster passed a cluster barrier: whoever used the block's shared
  // memory before is done with it.
  void cluster_barrier(std::uint32_t block);
  // An access by another block to this block's shared memory that may still be under way when this
  // block exits. Ask before end_block().
  std::optional<Race> use_at_exit(std::uint32_t block);
  // All blocks of a cooperative launch passed a grid barrier needs no call: it is made of strong
  // accesses.

  // Accesses that were not followed because a bound was reached.
  std::uint64_t untracked() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace kernevo::vgpu
