#include "kernevo/evaluate/measure_case.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/checked_shots.h"
#include "kernevo/evaluate/episode.h"
#include "kernevo/evaluate/reference_oracle.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/task/catalogue.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <utility>

namespace kernevo {
namespace {

// A subject with the tensors of a shape, run once to see that it runs at all.
struct Ready {
  std::optional<Arena> arena;
  RunRequest request;
  std::optional<CaseFault> fault;
};

CacheState cache_of(const BenchOptions& options) {
  return options.hot_cache ? CacheState::hot : CacheState::cold;
}

std::string episode_name(const Device& device, const ShapeCase& shape, std::uint64_t seed) {
  return fmt::format("{} {} {}", device.identity().name, shape.id, seed);
}

Result<Ready> make_ready(const KernelSubject& subject, const CaseInputs& inputs,
                         const BenchOptions& options) {
  Ready ready;
  const std::string& case_id = inputs.problem.case_id;
  auto plan = subject.prepared().plan(inputs.problem);
  if (!plan) {
    ready.fault = CaseFault{FaultKind::interface_contract_error, format_error(plan.error())};
    return ready;
  }
  KERNEVO_TRY(laid, lay_out(inputs, subject.instrumented()));
  laid.run.seconds = options.seconds;
  ready.request = subject.request(*plan, laid.run);
  ready.arena = std::move(laid.arena);
  KERNEVO_TRY(outcome, subject.module().run(ready.request, *ready.arena));
  if (outcome.fault)
    ready.fault = CaseFault{fault_of(outcome.fault->kind),
                            fmt::format("{} (case {})", outcome.fault->message, case_id),
                            outcome.fault->kind == FindingKind::time_limit};
  // Shots begin with what this run began with.
  for (std::size_t i = 0; i < inputs.initial.size(); ++i)
    std::ranges::copy(inputs.initial[i], ready.arena->region(i).begin());
  return ready;
}

Timed timed(const KernelSubject& subject, const Ready& ready) {
  return {&subject.module(), &ready.request, &*ready.arena};
}

// Of a timing in which the device set many shots aside.
std::vector<std::string> set_aside(const TimingQuality& quality, std::uint64_t most) {
  if (quality.discarded <= most)
    return {};
  return {fmt::format("it called {} shots disturbed", quality.discarded)};
}

// Tensors on the device are what the first run left; shots begin with what the judge has.
Result<CheckedShots> checked_shots(DeviceShots& shots, const Task& task, const CaseInputs& inputs,
                                   const ExpectationSource& expectation, std::uint64_t seed) {
  return CheckedShots::over(shots, task, inputs, expectation, derived_seed(seed, "looks"));
}

} // namespace

ExpectationSource expectation_for(Device& device, const Task& task, double seconds,
                                  double patience_minutes, bool rough) {
  if (task.oracle != OracleKind::reference_kernel)
    return catalogue_expectation();
  Device& judge = device.companion() ? *device.companion()->device : device;
  const ReferenceLimits limits{static_cast<std::uint64_t>(patience_budget(patience_minutes)),
                               std::max(seconds, patience_seconds(patience_minutes)), rough};
  struct Late {
    std::mutex mutex;
    std::optional<ReferenceOracle> oracle;
  };
  return [late = std::make_shared<Late>(), &judge, &task,
          limits](const CaseInputs& inputs, std::size_t output,
                  std::span<const std::int64_t> points) -> Result<std::vector<Expected>> {
    {
      const std::lock_guard lock(late->mutex);
      if (!late->oracle) {
        KERNEVO_TRY(made, make_reference_oracle(judge, task, {}, limits));
        late->oracle = std::move(made);
      }
    }
    return late->oracle->expectation(inputs, output, points);
  };
}

Result<TimedCase> measure_case(Device& device, const KernelSubject& subject, const ShapeCase& shape,
                               const ExpectationSource& expectation, const BenchOptions& options) {
  TimedCase result;
  const Task& task = *subject.prepared().task;
  KERNEVO_TRY(problem, make_problem(task, shape));
  const CaseInputs inputs = make_inputs(std::move(problem), InputSet::nominal, options.seed);
  const auto once = [&](int attempt) -> Result<std::vector<std::string>> {
    KERNEVO_TRY(ready, make_ready(subject, inputs, options));
    result.fault = ready.fault;
    if (result.fault)
      return std::vector<std::string>();
    KERNEVO_TRY(shots, device.shots(timed(subject, ready), nullptr, cache_of(options)));
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(attempt);
    KERNEVO_TRY(checked, checked_shots(*shots, task, inputs, expectation, seed));
    Receipt receipt = receipt_of(device.identity(), subject.prepared().build, shape, seed);
    receipt.cache = cache_of(options);
    receipt.code = subject.module().code();
    auto timing = measure(checked, device.clock(), Side::incumbent, options.measure, receipt);
    if (timing)
      KERNEVO_CHECK(checked.finish());
    if (checked.fault()) {
      result.fault = checked.fault()->fault;
      return std::vector<std::string>();
    }
    if (!timing)
      return tl::unexpected<Error>(timing.error());
    result.bench.timing = std::move(*timing);
    return set_aside(result.bench.timing.quality, options.measure.max_discarded);
  };
  KERNEVO_TRY(conditions, time_undisturbed(device, once));
  if (result.fault)
    return result;
  result.bench.case_id = shape.id;
  result.bench.weight = shape.weight;
  mark(result.bench.timing, conditions);
  return result;
}

Result<MeasuredPair> measure_pair(Device& device, const KernelSubject& incumbent,
                                  const KernelSubject& candidate, const ShapeCase& shape,
                                  const ExpectationSource& expectation, const ComparePlan& plan,
                                  const BenchOptions& options) {
  MeasuredPair pair;
  const Task& task = *candidate.prepared().task;
  KERNEVO_TRY(problem, make_problem(task, shape));
  const CaseInputs inputs = make_inputs(std::move(problem), InputSet::nominal, options.seed);
  const auto once = [&](int attempt) -> Result<std::vector<std::string>> {
    KERNEVO_TRY(first, make_ready(incumbent, inputs, options));
    KERNEVO_TRY(second, make_ready(candidate, inputs, options));
    pair.incumbent_fault = first.fault;
    pair.candidate_fault = second.fault;
    if (first.fault || second.fault)
      return std::vector<std::string>();
    const Timed other = timed(candidate, second);
    KERNEVO_TRY(shots, device.shots(timed(incumbent, first), &other, cache_of(options)));
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(attempt);
    KERNEVO_TRY(checked, checked_shots(*shots, task, inputs, expectation, seed));
    Receipt receipt = receipt_of(device.identity(), candidate.prepared().build, shape, seed);
    receipt.cache = cache_of(options);
    receipt.episode = episode_name(device, shape, seed);
    auto episode = compare_interleaved(checked, device.clock(), plan, receipt);
    if (episode)
      KERNEVO_CHECK(checked.finish());
    if (const auto& fault = checked.fault()) {
      (fault->side == Side::incumbent ? pair.incumbent_fault : pair.candidate_fault) = fault->fault;
      return std::vector<std::string>();
    }
    if (!episode)
      return tl::unexpected<Error>(episode.error());
    pair.episode = std::move(*episode);
    pair.episode.incumbent.receipt.code = incumbent.module().code();
    pair.episode.candidate.receipt.code = candidate.module().code();
    return set_aside(pair.episode.incumbent.quality, plan.max_discarded);
  };
  KERNEVO_TRY(conditions, time_undisturbed(device, once));
  if (pair.incumbent_fault || pair.candidate_fault)
    return pair;
  mark(pair.episode.incumbent, conditions);
  mark(pair.episode.candidate, conditions);
  if (!conditions.disturbances.empty()) {
    pair.episode.comparison.standing = Standing::ambiguous;
    pair.episode.comparison.reason = conditions.complaint();
  }
  return pair;
}

} // namespace kernevo
