// The time of a candidate as a function of its parameters, with a memory: an instance
// that compiles to known code is never run again.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/evolve/run_context.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/counter_readings.h"
#include "kernevo/model/diagnosis.h"
#include "kernevo/store/memo.h"
#include "kernevo/tune/kernel_objective.h"
#include "kernevo/tune/race.h"
#include "kernevo/tune/tuning_objective.h"

#include <deque>
#include <memory>
#include <optional>

namespace kernevo::evolve {

// Whom a candidate has to beat: the best when its step was decided.
struct Rival {
  std::string source;
  ParameterValues parameters;
  std::vector<ShapeTime> shapes; // its times, whose scale all times of a run are on
  Nanoseconds objective;
};

// The purpose of a contest whose times are announced.
inline constexpr std::string_view kAnnounced = "announced";

class InstanceObjective : public tune::TuningObjective {
public:
  // All must outlive it. `seed` chooses inputs and counted blocks.
  InstanceObjective(const RunContext& context, store::Memo& memo, const KernelFile& kernel,
                    std::uint64_t seed, double patience_minutes);

  Result<search::Trial> evaluate(const ParameterValues& values,
                                 const search::Trial* incumbent) override;
  // On small shapes only; the whole check is for those that would be announced.
  Result<std::optional<std::string>> check(const ParameterValues& values) override;

  Result<std::optional<search::Trial>> contest(const ParameterValues& values,
                                               const ParameterValues& incumbent,
                                               const search::Trial& timed) override;
  double doubt() const override { return tune::doubt_of(*context_.device); }

  // These parameters against another kernel, in turns; remembered with all its shots. `purpose`
  // tells apart what is timed more than once.
  struct Held {
    Contest contest;
    std::string key; // under which it is remembered
  };
  Result<Held> contest_with(const Rival& rival, const ParameterValues& values,
                            std::string_view purpose);

  struct Judgement {
    bool right = false;
    std::optional<FaultKind> fault;
    std::string summary;
    std::optional<Diagnosis> diagnosis; // when it is not right
  };
  // `whole`: hidden and real shapes, too, on inputs the search never saw.
  Result<Judgement> judge(const ParameterValues& values, bool whole);

  // The time of what would be announced: other inputs, and the counted blocks held against all, by
  // what they did in a whole check just before if there was one. What a device measured stands.
  Result<search::Trial> count_again(const ParameterValues& values);

  // The bench of these parameters: the one of the fastest evaluated here, or made anew. Of a device
  // that counts nothing its companion's, which does.
  Result<BenchResult> bench_of(const ParameterValues& values);

  // What counters of hardware say of these parameters, or why they say nothing; absent where the
  // device has none. Remembered: a run that is resumed or replayed reads the same.
  Result<std::optional<HardwareCounters>> counters_of(const ParameterValues& values);
  // The bench of these parameters on a device that measures, if it is still here.
  const BenchResult* measured(const ParameterValues& values) const;

  // The kernel with these parameters, built once however often it is asked for.
  Result<std::shared_ptr<const PreparedKernel>> prepared(const ParameterValues& values);

  // Under which something about this instance is remembered.
  std::string key(std::string_view what, const ParameterValues& values) const;

private:
  Result<void> keep_samples(const ParameterValues& values, const BenchResult& bench);
  Result<search::Trial> run(const ParameterValues& values, std::string& identity);
  BenchOptions bench_options() const;
  std::string check_key(const ParameterValues& values, bool whole) const;
  std::uint64_t check_seed(const ParameterValues& values, bool whole) const;

  const RunContext& context_;
  store::Memo& memo_;
  const KernelFile& kernel_;
  std::string source_hash_;
  double patience_minutes_;
  std::uint64_t seed_;
  tune::Race race_;
  std::optional<BenchResult> fastest_;
  std::optional<std::pair<ParameterValues, WholeTallies>> tallied_; // by the last whole check
  std::deque<std::shared_ptr<const PreparedKernel>> prepared_;      // the last used first
};

} // namespace kernevo::evolve
