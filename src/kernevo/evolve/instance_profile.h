// What a timed instance shows of itself: why it takes as long as it does, and what it is made of.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/evolve/run_context.h"
#include "kernevo/model/counter_readings.h"
#include "kernevo/model/search_records.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernevo::evolve {

struct ProfiledInstance {
  Bottleneck bottleneck; // of the launch that takes longest, of the shape that does
  std::string text;      // the same as JSON
  KernelFacts facts;
};

// The bench has no fault. Where hardware counted, its counters take the place of what is modelled;
// `measured` has the times it took without a profiler, where they are known.
Result<ProfiledInstance>
profile_instance(const RunContext& context, const BenchResult& bench,
                 const std::optional<HardwareCounters>& counters = std::nullopt,
                 const BenchResult* measured = nullptr);

std::string write_profile(const ProfiledInstance& profile);
Result<ProfiledInstance> read_profile(std::string_view text);

} // namespace kernevo::evolve
