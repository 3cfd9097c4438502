// What a search has tried so far.
#pragma once

#include "kernevo/base/units.h"
#include "kernevo/model/timing.h"
#include "kernevo/search/random_stream.h"
#include "kernevo/search/search_space.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kernevo::search {

enum class Outcome {
  ok,
  resources, // needs more than the GPU has; known before it ran
  compile,   // the compiler refused it
  run,       // the launch failed
  timeout,   // stopped: it took too long to build or to run
  wrong,     // ran, with wrong results
  failed,    // failed, and the record does not say how
};

std::string_view name_of(Outcome outcome);
std::optional<Outcome> outcome_named(std::string_view name);

struct Trial {
  Configuration configuration = 0;
  Outcome outcome = Outcome::ok;
  std::optional<Nanoseconds> time;         // present exactly when the outcome is ok
  std::optional<Nanoseconds> compile_time; // where it was measured
  std::map<std::string, double> counters;  // of a profiler; empty when there was none
  std::vector<ShapeTime> shapes = {};      // where the time is made of several
  bool partial = false;    // given up before its last shape: the time is an estimate
  bool checked = false;    // its results were compared; the outcome says what came of it
  std::string reason = {}; // of a failure, one line, where it is known
};

class SearchHistory {
public:
  explicit SearchHistory(const SearchSpace& space) : space_(&space) {}

  const SearchSpace& space() const { return *space_; }
  const std::vector<Trial>& trials() const { return trials_; }
  // Asked for and not yet answered, in the order they were asked for.
  const std::vector<Configuration>& pending() const { return pending_; }
  bool seen(Configuration configuration) const { return seen_.contains(configuration); }
  std::size_t seen_count() const { return seen_.size(); }
  // The fastest so far.
  const Trial* best() const { return best_ < trials_.size() ? &trials_[best_] : nullptr; }
  // Positions in trials() of the fastest `count`, fastest first.
  std::vector<std::size_t> fastest(std::size_t count) const;

  void ask(Configuration configuration);
  // Ignores a configuration already told: the first answer stands.
  bool tell(Trial trial);

private:
  const SearchSpace* space_;
  std::vector<Trial> trials_;
  std::vector<Configuration> pending_;
  std::unordered_set<Configuration> seen_; // told or pending
  std::unordered_set<Configuration> told_;
  std::size_t best_ = static_cast<std::size_t>(-1);
};

// Any configuration not seen yet, all equally likely; nothing when all were.
std::optional<Configuration> random_unseen(const SearchHistory& history, RandomStream& random);

} // namespace kernevo::search
