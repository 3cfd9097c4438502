// What the launches of one shape do, counted on blocks that stand for all of them.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/evaluate/run_case.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo {

// Why a shape has no time.
struct CaseFault {
  FaultKind kind = FaultKind::candidate_runtime_error;
  std::string summary;
  bool out_of_time = false;
};

struct CountedCase {
  std::vector<LaunchCounts> counts; // one per launch
  std::optional<CaseFault> fault;   // without one the counts hold
  // All blocks ran, and those counted were held against them: sampling_error says how far off they
  // are. Without it nobody knows what the others do.
  bool held_against_all = false;
};

// What is right where the catalogue does not know; without it nothing is compared.
struct TimedReference {
  ExpectationSource rough; // ReferenceLimits
  ExpectationSource fine;  // has the last word
};

// About so many blocks of each launch are counted; more where they would not stand for all.
Result<CountedCase> count_case(const DeviceIdentity& device, KernelSubject& subject,
                               const Problem& problem, const LaunchPlan& plan, std::uint64_t blocks,
                               const BenchOptions& options, const TimedReference& reference);

} // namespace kernevo
