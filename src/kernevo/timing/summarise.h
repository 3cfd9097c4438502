#pragma once

#include "kernevo/model/timing.h"
#include "kernevo/timing/warm_up.h"

#include <string>
#include <vector>

namespace kernevo {

// What is known beside the samples.
struct SamplingFacts {
  WarmUp warm_up;
  std::uint64_t discarded = 0;
  bool precise = false;   // the stopping rule was content
  std::string stopped_by; // "rule median_interval", "the limit of 10000 samples"
};

// Samples in the order taken to a checked record: median, its interval, and how good it is. No
// sample is removed or changed for its value; a spike moves neither the median nor its interval
// much.
Result<Timing> summarise(std::vector<Nanoseconds> samples, const SamplingFacts& facts,
                         double confidence, Receipt receipt);

} // namespace kernevo
