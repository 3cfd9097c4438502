// Which blocks of a launch stand for all of them, and for how many each, once it is known what
// every one of them does.
#pragma once

#include "kernevo/model/block_tally.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace kernevo {

struct WeightedBlocks {
  std::vector<std::uint64_t> blocks; // ascending
  std::vector<double> weights;       // of each
};

// How far what these blocks did, times their weights, is from what all did: the worst of
// instructions, sectors and atomics, as a share of all. Sectors and atomics that are few beside the
// instructions count as a share of those.
double sampling_error(std::span<const BlockTally> tallies, const WeightedBlocks& chosen);

// Blocks with much to do are chosen in proportion, and each stands for those that did alike, so
// that no heavy block hides; the weights make the sum of instructions exact. About twice `count`
// blocks, or as many more as it takes to bring the sampling error down to `most_error`, within
// reason.
WeightedBlocks choose_by_tally(const std::array<std::uint32_t, 3>& grid,
                               std::span<const BlockTally> tallies, std::uint64_t count,
                               std::uint64_t seed, double most_error);

// Every one of these blocks stands for the same number of them.
WeightedBlocks with_equal_weights(std::vector<std::uint64_t> blocks, std::uint64_t total);

} // namespace kernevo
