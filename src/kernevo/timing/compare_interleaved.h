// Times an incumbent and a candidate in turns and says which is faster.
//
// Shots come in blocks of four, ABBA or BAAB by a coin that the seed throws for each block. Within
// a block a linear drift cancels; over blocks the coin makes the sign of every difference random
// when the two are the same kernel, whatever the device does meanwhile. That is all the test
// assumes, so drift, steps, clocks that jump and dependent noise cost power, never honesty.
#pragma once

#include "kernevo/model/comparison.h"
#include "kernevo/model/timing.h"
#include "kernevo/timing/paired_test.h"
#include "kernevo/timing/shots.h"
#include "kernevo/timing/warm_up.h"

#include <cstdint>

namespace kernevo {

struct ComparePlan {
  PairedPlan paired = {};
  WarmUpPlan warm_up = {};
  Nanoseconds time_limit = {60e9};  // of the blocks, without the warm-up
  std::uint64_t max_discarded = 64; // blocks with a disturbed shot are taken again, this often
  double confidence = 0.95;         // of each side's own interval
};

struct Episode {
  Comparison comparison; // of the candidate against the incumbent
  Timing incumbent;
  Timing candidate;
};

// receipt.seed throws the coins; receipt.episode names the two timings' common session and must not
// be empty.
Result<Episode> compare_interleaved(ShotSource& source, Clock& clock, const ComparePlan& plan,
                                    const Receipt& receipt);

// log(incumbent / candidate) of one block from its two shots of each side.
double block_difference(Nanoseconds incumbent_1, Nanoseconds incumbent_2, Nanoseconds candidate_1,
                        Nanoseconds candidate_2);

} // namespace kernevo
