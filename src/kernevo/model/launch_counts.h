// What a profiled launch did, instruction by instruction: counts of the blocks that ran, each times
// its weight.
#pragma once

#include "kernevo/base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

enum class MemorySpace : std::uint8_t { global, shared, local, constant };
enum class MemoryAction : std::uint8_t { load, store, atomic };

// The accesses of one instruction to one kind of memory.
struct AccessCounts {
  MemorySpace space = MemorySpace::global;
  MemoryAction action = MemoryAction::load;
  std::uint64_t requests = 0;     // warp instructions with at least one active lane
  std::uint64_t threads = 0;      // active lanes, over all requests
  std::uint64_t useful_bytes = 0; // distinct bytes asked for, summed over requests
  std::uint64_t sectors = 0;      // global, local: distinct 32-byte sectors, summed over requests
  std::uint64_t lines = 0;        // global, local: distinct 128-byte lines
  std::uint64_t l1_hits = 0;      // loads: of the sectors, those the L1 model holds
  std::uint64_t wavefronts = 0;   // shared: passes over the banks; constant: distinct words
  std::uint64_t collisions = 0;   // atomics: lanes that wait for another lane of the same address

  bool operator==(const AccessCounts&) const = default;
};

struct InstructionCounts {
  int ptx_line = 0;
  std::string source_file; // the user's line, where the PTX tells it
  int source_line = 0;
  std::string opcode;           // "ld.global.v4.f32"
  std::uint64_t executions = 0; // by warps
  std::uint64_t threads = 0;    // lanes that took part
  std::uint64_t diverged = 0;   // executions of a branch that parted the lanes
  std::vector<AccessCounts> accesses;

  bool operator==(const InstructionCounts&) const = default;
};

// What blocks touch of one allocation, in sectors of 32 bytes, and how much of it a neighbour in x,
// y and z touches again (1 = the same sectors, 0 = none of them). Absent: no such pair ran.
struct FootprintCounts {
  std::string buffer;
  std::uint64_t bytes = 0;  // of the whole allocation
  double read_sectors = 0;  // per block
  double write_sectors = 0; // per block; atomics count as both
  std::array<std::optional<double>, 3> read_overlap;
  std::array<std::optional<double>, 3> write_overlap;

  bool operator==(const FootprintCounts&) const = default;
};

struct BlockCounts {
  std::uint64_t block = 0; // linear index
  std::uint64_t warp_instructions = 0;
  std::uint64_t global_sectors = 0; // that leave L1
  double weight = 1;                // how many blocks of the grid it stands for in the sums
  std::uint64_t wavefronts = 0;     // passes over the banks of shared memory

  bool operator==(const BlockCounts&) const = default;
};

struct LaunchCounts {
  std::string kernel;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint64_t shared_bytes = 0;              // of a block, static and dynamic
  std::vector<InstructionCounts> instructions; // those that were executed, in order of the text
  std::vector<FootprintCounts> footprints;
  std::vector<BlockCounts> blocks; // that were counted
  // Where every block was tallied: how far the sums are from the exact ones, relative.
  std::optional<double> sampling_error;

  // How many blocks the sums are worth: less than one where counting ended inside the first.
  double represented() const;

  bool operator==(const LaunchCounts&) const = default;
};

std::string to_json(const LaunchCounts& counts);
Result<LaunchCounts> launch_counts_from_json(std::string_view text);

std::string_view name_of(MemorySpace space);
std::string_view name_of(MemoryAction action);

} // namespace kernevo
