#include "kernevo/evaluate/compare.h"

#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/contest.h"
#include "kernevo/evaluate/instance_identity.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/predict/machine_counters.h"
#include "kernevo/timing/compare_timings.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernevo {
namespace {

constexpr double kNotable = 0.1;

// Right or not; nothing when it is.
Result<std::optional<WrongKernel>> find_fault(Device& device, const PreparedKernel& prepared,
                                              Side side, const CompareOptions& options) {
  CheckOptions check;
  check.small_only = options.small_only;
  check.seconds = options.bench.seconds;
  check.patience_minutes = options.bench.patience_minutes;
  check.memory_bytes = options.bench.memory_bytes;
  check.observer = options.observer;
  KERNEVO_TRY(checked, check_prepared(device, prepared, check));
  if (checked.verdict.correct)
    return std::nullopt;
  return WrongKernel{side, *checked.verdict.fault, checked.verdict.summary, checked.verdict};
}

// The same code, assembled alike and launched with the same numbers at every shape.
bool identical(const PreparedKernel& a, const PreparedKernel& b) {
  const auto identity_of = [](const PreparedKernel& one) {
    return instance_identity(*one.task, *one.kernel, one.parameters, one.build);
  };
  const std::string identity = identity_of(a);
  return !identity.empty() && identity == identity_of(b);
}

Comparison compare(const Timing& incumbent, const Timing& candidate, bool is_identical) {
  Comparison comparison = compare_timings(incumbent, candidate);
  if (is_identical && comparison.ratio) {
    comparison.standing = Standing::same;
    comparison.ratio = SpeedRatio{1, 1, 1, comparison.ratio->confidence};
    comparison.reason = "the same instructions, launched alike";
  }
  return comparison;
}

bool is_total(const Counter& counter) {
  return counter.name.ends_with(".sum");
}

const Counter* find(const Counters& counters, std::string_view name) {
  const auto found = std::find_if(counters.all.begin(), counters.all.end(),
                                  [&](const Counter& c) { return c.name == name; });
  return found == counters.all.end() ? nullptr : &*found;
}

double instructions_of(const Counters& counters) {
  const double machine = counters.value_of("smsp__inst_executed.sum");
  return machine > 0 ? machine : counters.value_of("ptx__inst_executed.sum");
}

} // namespace

std::optional<double> CounterPair::ratio() const {
  return incumbent.value == 0 ? std::nullopt
                              : std::optional<double>(candidate.value / incumbent.value);
}

bool CounterPair::differs() const {
  const auto by = ratio();
  return by ? std::abs(*by - 1) >= kNotable : candidate.value != 0;
}

Counters counters_of(const CaseBench& bench) {
  Counters sum;
  // A ratio's weights, by the place of the counter.
  std::vector<double> weights;
  for (const LaunchBench& launch : bench.launches) {
    const Counters one =
        launch.work ? machine_counters(launch.counts, *launch.work) : counters_of(launch.counts);
    sum.blocks += one.blocks;
    sum.blocks_counted += one.blocks_counted;
    sum.sampling_error = std::max(sum.sampling_error, one.sampling_error);
    for (const Counter& counter : one.all) {
      const double weight = is_total(counter) ? 1 : instructions_of(one);
      const auto found = std::find_if(sum.all.begin(), sum.all.end(),
                                      [&](const Counter& c) { return c.name == counter.name; });
      if (found == sum.all.end()) {
        sum.all.push_back(counter);
        sum.all.back().value *= weight;
        weights.push_back(weight);
      } else {
        found->value += weight * counter.value;
        weights[static_cast<std::size_t>(found - sum.all.begin())] += weight;
      }
    }
  }
  for (std::size_t i = 0; i < sum.all.size(); ++i)
    if (!is_total(sum.all[i]) && weights[i] > 0)
      sum.all[i].value /= weights[i];
  return sum;
}

std::vector<CounterPair> pair_counters(const Counters& incumbent, const Counters& candidate) {
  std::vector<CounterPair> pairs;
  const auto none = [](Counter counter) {
    counter.value = 0;
    return counter;
  };
  for (const Counter& a : incumbent.all) {
    const Counter* b = find(candidate, a.name);
    pairs.push_back({a, b == nullptr ? none(a) : *b});
  }
  for (const Counter& b : candidate.all)
    if (find(incumbent, b.name) == nullptr)
      pairs.push_back({none(b), b});
  return pairs;
}

Result<Timing> objective_timing(Objective objective, const BenchResult& bench) {
  std::vector<WeightedTime> low;
  std::vector<WeightedTime> middle;
  std::vector<WeightedTime> high;
  Timing timing;
  timing.method = TimingMethod::modelled;
  timing.interval.confidence = 1;
  for (const CaseBench& c : bench.cases) {
    if (c.timing.method != TimingMethod::modelled)
      return fail(ErrorCode::usage, "measured times of several shapes are not one measured time",
                  std::nullopt, "compare them shape by shape");
    low.push_back({c.timing.interval.low, c.weight});
    middle.push_back({c.timing.median, c.weight});
    high.push_back({c.timing.interval.high, c.weight});
    timing.interval.confidence = std::min(timing.interval.confidence, c.timing.interval.confidence);
    timing.terms.push_back({c.case_id, c.timing.median});
  }
  timing.median = objective_time(objective, middle);
  timing.interval.low = objective_time(objective, low);
  timing.interval.high = objective_time(objective, high);
  timing.quality.reason = "the task's objective over the predictions of its shapes";
  timing.receipt = bench.cases.front().timing.receipt;
  timing.receipt.shapes = "all";
  return make_timing(std::move(timing));
}

namespace {

class Comparer {
public:
  Comparer(Device& device, const Task& task, const PreparedKernel& incumbent,
           const PreparedKernel& candidate, const CompareOptions& options)
      : device_(device), task_(task), incumbent_(incumbent), candidate_(candidate),
        options_(options) {}

  Result<CompareResult> run() {
    for (const Side side : {Side::incumbent, Side::candidate}) {
      KERNEVO_TRY(wrong, find_fault(device_, prepared(side), side, options_));
      result_.wrong = std::move(wrong);
      if (result_.wrong)
        return std::move(result_);
    }
    KERNEVO_CHECK(device_.capabilities().measures ? in_turns() : one_after_the_other());
    return std::move(result_);
  }

private:
  const PreparedKernel& prepared(Side side) const {
    return side == Side::incumbent ? incumbent_ : candidate_;
  }
  BenchResult& bench(Side side) {
    return side == Side::incumbent ? result_.incumbent : result_.candidate;
  }

  // Modelled times do not drift.
  Result<void> one_after_the_other() {
    for (const Side side : {Side::incumbent, Side::candidate}) {
      KERNEVO_TRY(timed, bench_prepared(device_, prepared(side), options_.bench));
      if (timed.fault) {
        result_.wrong = WrongKernel{side, *timed.fault, timed.summary, std::nullopt};
        return {};
      }
      bench(side) = std::move(timed);
    }
    result_.identical = identical(incumbent_, candidate_);
    for (std::size_t i = 0; i < result_.incumbent.cases.size(); ++i) {
      const CaseBench& a = result_.incumbent.cases[i];
      const CaseBench& b = result_.candidate.cases[i];
      result_.cases.push_back({a.case_id, compare(a.timing, b.timing, result_.identical),
                               pair_counters(counters_of(a), counters_of(b))});
    }
    KERNEVO_TRY(all_a, objective_timing(task_.objective, result_.incumbent));
    KERNEVO_TRY(all_b, objective_timing(task_.objective, result_.candidate));
    result_.overall = compare(all_a, all_b, result_.identical);
    return {};
  }

  Result<void> in_turns() {
    for (const Side side : {Side::incumbent, Side::candidate}) {
      bench(side).device = device_.identity();
      bench(side).build = prepared(side).build;
      bench(side).parameters = prepared(side).parameters;
    }
    BenchOptions options = options_.bench;
    options.seed = derived_seed(options.seed, "contest");
    KERNEVO_TRY(contest, hold_contest(device_, task_, incumbent_, candidate_, options));
    if (contest.fault) {
      result_.wrong = WrongKernel{contest.fault->side, contest.fault->fault.kind,
                                  contest.fault->fault.summary, std::nullopt};
      return {};
    }
    for (ContestCase& one : contest.cases) {
      bench(Side::incumbent)
          .cases.push_back({one.case_id, one.weight, std::move(one.episode.incumbent), {}});
      bench(Side::candidate)
          .cases.push_back({one.case_id, one.weight, std::move(one.episode.candidate), {}});
      result_.cases.push_back({one.case_id, std::move(one.episode.comparison), {}});
    }
    for (const Side side : {Side::incumbent, Side::candidate})
      bench(side).objective = objective_of(task_.objective, bench(side).cases);
    result_.overall = std::move(contest.overall);
    return {};
  }

  Device& device_;
  const Task& task_;
  const PreparedKernel& incumbent_;
  const PreparedKernel& candidate_;
  const CompareOptions& options_;
  CompareResult result_;
};

} // namespace

Result<CompareResult> compare_kernels(Device& device, const Task& task, const Contender& incumbent,
                                      const Contender& candidate, const CompareOptions& options) {
  KERNEVO_TRY(first, prepare_kernel(device, task, *incumbent.kernel, incumbent.parameters));
  KERNEVO_TRY(second, prepare_kernel(device, task, *candidate.kernel, candidate.parameters));
  return Comparer(device, task, first, second, options).run();
}

} // namespace kernevo
