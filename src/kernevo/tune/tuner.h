// Finds the best valid parameters under a budget: asks a search what to try, has it evaluated by
// several threads, and tells the answers in the order of the questions. So the run depends on the
// seed, the strategy and how many are under way at once, not on the threads or their timing.
#pragma once

#include "kernevo/search/search.h"
#include "kernevo/search/tuning_log.h"
#include "kernevo/tune/tuning_objective.h"

#include <functional>

namespace kernevo::tune {

// Under way at once unless more threads are wanted. More would make threads wait less for a slow
// one, and the search choose with less knowledge.
inline constexpr std::size_t kDefaultAhead = 4;

enum class TuningEvent {
  waiting, // nothing new; a chance to show the clock
  told,    // one more is known
  best,    // and it is the fastest so far, and right
};

struct TuningState {
  std::size_t told = 0;      // configurations evaluated or found in the log
  std::size_t from_log = 0;  // of them
  std::size_t failed = 0;    // of them
  std::size_t under_way = 0; // asked for and not yet known
  const search::Trial* last = nullptr;
  const search::Trial* best = nullptr; // checked; null when none is yet
  bool stopping = false;
};

struct TunerOptions {
  search::SearchOptions search; // `seeds`: the kernel's own defaults belong there
  std::optional<std::size_t> evaluations;
  std::optional<double> seconds; // nothing new is begun after; what is under way is finished
  unsigned jobs = 1;
  std::size_t ahead = kDefaultAhead; // at least `jobs`
  // Trials of another run, told before anything is asked. They are no evaluations.
  std::vector<search::Trial> known;
  std::function<bool()> interrupted; // asked often, by the caller's thread
  std::function<double()> clock;     // seconds since any moment; the steady clock if empty
  std::function<void(TuningEvent, const TuningState&)> observer; // in the caller's thread
};

enum class TuningStop { evaluations, seconds, exhausted, interrupted };
std::string_view name_of(TuningStop stop);

struct TuningResult {
  TuningStop stop = TuningStop::evaluations;
  std::vector<search::Trial> trials; // in the order they were asked for
  std::size_t from_log = 0;          // of them
  std::optional<search::Trial> best; // checked and right
};

// The log (may be null) answers what it knows and takes what is new: a run that was stopped, by
// whatever, and is started again does nothing twice and ends as if it had not been stopped. A
// configuration that would be the new best is checked before it is; a wrong one fails.
Result<TuningResult> tune(const search::SearchSpace& space, TuningObjective& objective,
                          search::TuningLog* log, const TunerOptions& options);

} // namespace kernevo::tune
