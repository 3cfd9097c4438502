// The time of a kernel on a device as a function of its parameters.
#pragma once

#include "kernevo/evaluate/audience.h"
#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/contest.h"
#include "kernevo/tune/race.h"
#include "kernevo/tune/tuning_objective.h"

#include <memory>
#include <mutex>

namespace kernevo::tune {

// What a model of the time may learn from: the profiler's counters, the bounds of the prediction
// and what holds a block back, summed over the launches.
std::map<std::string, double> counters_of_case(const CaseBench& bench);
ShapeTime shape_time(const CaseBench& bench);
// How a search hears of a bench; its time is a matter of the incumbent.
search::Trial trial_of(const BenchResult& bench);
// How a search hears of a bench that brought no times; nothing when it did.
Result<std::optional<search::Trial>> failed_trial(const Result<BenchResult>& bench);

// What a device was seen to drift by between two timings, where it measures.
double doubt_of(const Device& device);
// A contest as a search hears of it, on the scale of the incumbent's times: shown to be faster, or
// no faster.
search::Trial trial_of(const Contest& contest, const Race& race, const search::Trial& incumbent);
// Trouble of the machine where a timing must not be scored.
Result<void> refuse_disturbed(const std::string& disturbance);

class KernelObjective : public TuningObjective {
public:
  // Device, task and kernel must outlive it. `bench` says how; its parameters and hooks are ours,
  // and only what would be the new best is held against all its blocks. `check_seed` chooses the
  // inputs and shapes on which a new best is checked, 0 fresh ones every time; what is wrong with
  // one is told as the audience may know it.
  KernelObjective(Device& device, const Task& task, const KernelFile& kernel, BenchOptions bench,
                  std::uint64_t check_seed, Audience audience = Audience::owner);

  Result<search::Trial> evaluate(const ParameterValues& values,
                                 const search::Trial* incumbent) override;
  Result<std::optional<std::string>> check(const ParameterValues& values) override;
  Result<std::optional<search::Trial>> recount(const ParameterValues& values,
                                               const search::Trial* incumbent) override;

  Result<std::optional<search::Trial>> contest(const ParameterValues& values,
                                               const ParameterValues& incumbent,
                                               const search::Trial& timed) override;
  double doubt() const override { return doubt_of(device_); }

  // Evaluations answered by one that had the same PTX and the same launches.
  std::size_t same_code() const;

private:
  struct Timed {
    std::vector<ShapeTime> shapes;
    std::map<std::string, double> counters; // of the first shape
  };

  // Decides the inputs of a timing; nobody knows them beforehand.
  std::uint64_t fresh_seed() const;
  search::Trial race(const Timed& timed, const search::Trial* incumbent) const;

  Device& device_;
  const Task& task_;
  const KernelFile& kernel_;
  BenchOptions bench_;
  std::uint64_t check_seed_;
  Audience audience_;
  Race race_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Timed>> timed_; // by identity; whole ones alone
  std::size_t same_code_ = 0;
};

} // namespace kernevo::tune
