#include "kernevo/evaluate/compare.h"

#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/predict/machine_counters.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/timing/compare_timings.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernevo {
namespace {

constexpr double kNotable = 0.1;

// Right or not; nothing when it is.
Result<std::optional<WrongKernel>> find_fault(const Task& task, const Contender& contender,
                                              Side side, const CompareOptions& options) {
  CheckOptions check;
  check.gpu = options.bench.gpu;
  check.parameters = contender.parameters;
  check.small_only = options.small_only;
  check.seconds = options.bench.seconds;
  check.memory_bytes = options.bench.memory_bytes;
  KERNEVO_TRY(checked, check_kernel(task, *contender.kernel, check));
  if (checked.verdict.correct)
    return std::nullopt;
  return WrongKernel{side, *checked.verdict.fault, checked.verdict.summary, checked.verdict};
}

Result<BenchResult> time(const Task& task, const Contender& contender,
                         const CompareOptions& options) {
  BenchOptions bench = options.bench;
  bench.parameters = contender.parameters;
  return bench_kernel(task, *contender.kernel, bench);
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
  return sass::without_source_lines(a.build.ptx) == sass::without_source_lines(b.build.ptx) &&
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

Result<CompareResult> compare_kernels(const Task& task, const Contender& incumbent,
                                      const Contender& candidate, const CompareOptions& options) {
  CompareResult result;
  for (const Side side : {Side::incumbent, Side::candidate}) {
    const Contender& contender = side == Side::incumbent ? incumbent : candidate;
    KERNEVO_TRY(wrong, find_fault(task, contender, side, options));
    result.wrong = std::move(wrong);
    if (result.wrong)
      return result;
  }
  for (const Side side : {Side::incumbent, Side::candidate}) {
    KERNEVO_TRY(bench, time(task, side == Side::incumbent ? incumbent : candidate, options));
    if (bench.fault) {
      result.wrong = WrongKernel{side, *bench.fault, bench.summary, std::nullopt};
      return result;
    }
    (side == Side::incumbent ? result.incumbent : result.candidate) = std::move(bench);
  }
  result.identical = identical(result.incumbent, result.candidate);
  for (std::size_t i = 0; i < result.incumbent.cases.size(); ++i) {
    const CaseBench& a = result.incumbent.cases[i];
    const CaseBench& b = result.candidate.cases[i];
    result.cases.push_back({a.case_id, compare(a.timing, b.timing, result.identical),
                            pair_counters(counters_of(a), counters_of(b))});
  }
  KERNEVO_TRY(all_a, objective_timing(task.objective, result.incumbent));
  KERNEVO_TRY(all_b, objective_timing(task.objective, result.candidate));
  result.overall = compare(all_a, all_b, result.identical);
  return result;
}

} // namespace kernevo
