#include "kernevo/evaluate/compare.h"

#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/measure_case.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/predict/machine_counters.h"
#include "kernevo/timing/compare_timings.h"
#include "kernevo/toolchain/assembled.h"

#include <algorithm>
#include <array>
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

bool launched_alike(const CaseBench& a, const CaseBench& b) {
  return std::equal(a.launches.begin(), a.launches.end(), b.launches.begin(), b.launches.end(),
                    [](const LaunchBench& x, const LaunchBench& y) {
                      return x.counts.kernel == y.counts.kernel && x.counts.grid == y.counts.grid &&
                             x.counts.block == y.counts.block &&
                             x.counts.shared_bytes == y.counts.shared_bytes;
                    });
}

// Names of files and lines of the source are all that may differ.
bool identical(const BenchResult& a, const BenchResult& b) {
  return without_source_lines(a.build.ptx) == without_source_lines(b.build.ptx) &&
         std::equal(a.cases.begin(), a.cases.end(), b.cases.begin(), b.cases.end(), launched_alike);
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

// What the shapes' own comparisons say of the whole: all must agree for a standing other than
// ambiguous; the ratio is the weighted geometric mean of theirs, with intervals that err the same
// way.
Comparison combine(const BenchResult& timed, const std::vector<CaseComparison>& cases) {
  Comparison overall;
  double weights = 0;
  std::array<double, 3> logs = {};
  bool known = !cases.empty();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Comparison& one = cases[i].comparison;
    known = known && one.ratio.has_value();
    if (!known)
      break;
    const double weight = timed.cases[i].weight;
    weights += weight;
    logs[0] += weight * std::log(one.ratio->low);
    logs[1] += weight * std::log(one.ratio->estimate);
    logs[2] += weight * std::log(one.ratio->high);
  }
  if (!known || !(weights > 0)) {
    overall.standing = Standing::not_comparable;
    overall.reason = "a shape could not be compared";
    return overall;
  }
  overall.ratio =
      SpeedRatio{std::exp(logs[1] / weights), std::exp(logs[0] / weights),
                 std::exp(logs[2] / weights), cases.front().comparison.ratio->confidence};
  overall.method = TimingMethod::measured;
  overall.standing = cases.front().comparison.standing;
  overall.reason = cases.front().comparison.reason;
  for (const CaseComparison& one : cases) {
    overall.blocks += one.comparison.blocks;
    if (one.comparison.standing != overall.standing) {
      overall.standing = Standing::ambiguous;
      overall.reason = "the shapes do not agree";
    }
  }
  return overall;
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
    result_.identical = identical(result_.incumbent, result_.candidate);
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
    std::array<std::unique_ptr<KernelSubject>, 2> subjects;
    for (const Side side : {Side::incumbent, Side::candidate}) {
      KERNEVO_TRY(loaded, load_kernel(device_, prepared(side),
                                      {.memory_bytes = options_.bench.memory_bytes}));
      if (loaded.refusal) {
        result_.wrong = WrongKernel{side, fault_of(loaded.refusal->kind), loaded.refusal->message,
                                    std::nullopt};
        return {};
      }
      subjects.at(static_cast<std::size_t>(side)) = std::move(loaded.subject);
      bench(side).device = device_.identity();
      bench(side).build = prepared(side).build;
      bench(side).parameters = prepared(side).parameters;
    }
    for (const ShapeCase& shape : task_.shapes) {
      if (!wants(options_.bench, shape))
        continue;
      KERNEVO_TRY(pair, measure_pair(device_, *subjects[0], *subjects[1], shape, options_.bench));
      for (const Side side : {Side::incumbent, Side::candidate}) {
        const auto& fault = side == Side::incumbent ? pair.incumbent_fault : pair.candidate_fault;
        if (fault) {
          result_.wrong = WrongKernel{side, fault->kind, fault->summary, std::nullopt};
          return {};
        }
      }
      bench(Side::incumbent).cases.push_back({shape.id, shape.weight, pair.episode.incumbent, {}});
      bench(Side::candidate).cases.push_back({shape.id, shape.weight, pair.episode.candidate, {}});
      result_.cases.push_back({shape.id, std::move(pair.episode.comparison), {}});
    }
    if (result_.cases.empty())
      return fail(ErrorCode::usage, "none of the task's shapes was chosen", Place{task_.file});
    for (const Side side : {Side::incumbent, Side::candidate})
      bench(side).objective = objective_of(task_.objective, bench(side).cases);
    result_.overall = combine(result_.incumbent, result_.cases);
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
