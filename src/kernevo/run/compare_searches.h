// Does evolution help? The same tasks, seeds and budget for each kind of search.
#pragma once

#include "kernevo/evolve/orchestrator.h"

#include <filesystem>

namespace kernevo::run {

struct SearchTrial {
  std::string task;
  SearchKind search = SearchKind::evolve;
  std::uint64_t seed = 0;
  Nanoseconds baseline;
  std::vector<evolve::BestPoint> bests;
  std::uint64_t evaluations = 0; // spent; may be fewer than granted when nothing was left to try

  // The best after so many evaluations.
  Nanoseconds best_at(std::uint64_t evaluations) const;
};

struct SearchComparison {
  std::vector<std::string> tasks; // files
  std::vector<SearchKind> searches;
  std::uint64_t seeds = 3;
  std::uint64_t evaluations = 60; // of each run
  std::string gpu;
  unsigned jobs = 0;            // evaluations at once; 0: one per core
  std::filesystem::path folder; // of the runs and of what they share
  std::function<bool()> interrupted;
  std::function<void(const SearchTrial&)> observer; // after each run
};

// Runs that are in the folder already are not made again. What is timed for one search is
// remembered for the others; it counts for each all the same.
Result<std::vector<SearchTrial>> compare_searches(const SearchComparison& comparison);

} // namespace kernevo::run
