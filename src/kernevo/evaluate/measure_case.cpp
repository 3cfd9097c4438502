#include "kernevo/evaluate/measure_case.h"

#include "kernevo/evaluate/run_case.h"
#include "kernevo/task/catalogue.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// A subject with the tensors of a shape, run once to see that it runs at all.
struct Ready {
  std::optional<Arena> arena;
  RunRequest request;
  std::optional<CaseFault> fault;
};

Result<Ready> make_ready(const KernelSubject& subject, const ShapeCase& shape,
                         const BenchOptions& options) {
  Ready ready;
  KERNEVO_TRY(problem, make_problem(*subject.prepared().task, shape));
  auto plan = subject.prepared().plan(problem);
  if (!plan) {
    ready.fault = CaseFault{FaultKind::interface_contract_error, format_error(plan.error())};
    return ready;
  }
  KERNEVO_TRY(laid, lay_out(make_inputs(std::move(problem), InputSet::nominal, options.seed),
                            subject.instrumented()));
  laid.run.seconds = options.seconds;
  ready.request = subject.request(*plan, laid.run);
  ready.arena = std::move(laid.arena);
  KERNEVO_TRY(outcome, subject.module().run(ready.request, *ready.arena));
  if (outcome.fault)
    ready.fault = CaseFault{fault_of(outcome.fault->kind),
                            fmt::format("{} (case {})", outcome.fault->message, shape.id),
                            outcome.fault->kind == FindingKind::time_limit};
  return ready;
}

Timed timed(const KernelSubject& subject, const Ready& ready) {
  return {&subject.module(), &ready.request, &*ready.arena};
}

} // namespace

Result<TimedCase> measure_case(Device& device, const KernelSubject& subject, const ShapeCase& shape,
                               const BenchOptions& options) {
  TimedCase result;
  KERNEVO_TRY(ready, make_ready(subject, shape, options));
  result.fault = ready.fault;
  if (result.fault)
    return result;
  KERNEVO_TRY(shots, device.shots(timed(subject, ready), nullptr));
  KERNEVO_TRY(timing, measure(*shots, device.clock(), Side::incumbent, options.measure,
                              receipt_of(device.identity(), subject.prepared().build, shape,
                                         options.seed)));
  result.bench.case_id = shape.id;
  result.bench.weight = shape.weight;
  result.bench.timing = std::move(timing);
  return result;
}

Result<MeasuredPair> measure_pair(Device& device, const KernelSubject& incumbent,
                                  const KernelSubject& candidate, const ShapeCase& shape,
                                  const BenchOptions& options) {
  MeasuredPair pair;
  KERNEVO_TRY(first, make_ready(incumbent, shape, options));
  KERNEVO_TRY(second, make_ready(candidate, shape, options));
  pair.incumbent_fault = first.fault;
  pair.candidate_fault = second.fault;
  if (first.fault || second.fault)
    return pair;
  const Timed other = timed(candidate, second);
  KERNEVO_TRY(shots, device.shots(timed(incumbent, first), &other));
  Receipt receipt = receipt_of(device.identity(), candidate.prepared().build, shape, options.seed);
  receipt.episode = fmt::format("{} {} {}", device.identity().name, shape.id, options.seed);
  KERNEVO_TRY(episode, compare_interleaved(*shots, device.clock(), {}, receipt));
  pair.episode = std::move(episode);
  return pair;
}

} // namespace kernevo
