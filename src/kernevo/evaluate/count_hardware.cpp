#include "kernevo/evaluate/count_hardware.h"

#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/task/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace kernevo {
namespace {

HardwareCounters refused(HardwareCounters counters, std::string why, std::string remedy) {
  counters.cases.clear();
  counters.refusal = std::move(why);
  counters.remedy = std::move(remedy);
  return counters;
}

Result<CountedRun> count_shape(KernelSubject& subject, const ShapeCase& shape,
                               const CounterMap& map, const BenchOptions& options) {
  const PreparedKernel& prepared = subject.prepared();
  KERNEVO_TRY(problem, make_problem(*prepared.task, shape));
  const CaseInputs inputs = make_inputs(std::move(problem), InputSet::nominal, options.seed);
  KERNEVO_TRY(plan, prepared.plan(inputs.problem));
  KERNEVO_TRY(laid, lay_out(inputs, subject.instrumented()));
  laid.run.seconds = options.seconds;
  return subject.module().count(subject.request(plan, laid.run), laid.arena, map.counters());
}

} // namespace

Result<std::optional<HardwareCounters>> count_hardware(Device& device,
                                                       const PreparedKernel& prepared,
                                                       const CounterMap& map,
                                                       const BenchOptions& options) {
  if (!device.capabilities().has_counters)
    return std::optional<HardwareCounters>();
  HardwareCounters counters;
  const DeviceIdentity& identity = device.identity();
  counters.origin = identity.stand_in.empty() ? CounterOrigin::gpu : CounterOrigin::stand_in;
  counters.source = identity.name;
  KERNEVO_TRY(loaded, load_kernel(device, prepared, {.memory_bytes = options.memory_bytes}));
  if (loaded.refusal)
    return refused(std::move(counters), loaded.refusal->message, "see kernevo check");
  for (const ShapeCase& shape : prepared.task->shapes) {
    if (!wants(options, shape))
      continue;
    auto counted = count_shape(*loaded.subject, shape, map, options);
    // Who reads counters may fail at it without harm: the times are there already.
    if (!counted && counted.error().code == ErrorCode::infrastructure)
      return refused(std::move(counters), counted.error().message,
                     counted.error().fix.empty() ? "try again" : counted.error().fix);
    KERNEVO_TRY(run, std::move(counted));
    if (run.fault)
      return refused(std::move(counters),
                     fmt::format("it failed while it was counted: {}", run.fault->message),
                     "see kernevo check");
    if (!run.refusal.empty())
      return refused(std::move(counters), std::move(run.refusal), std::move(run.remedy));
    for (const CounterReadings& readings : run.launches)
      if (const MetricSource* missing = map.missing(readings))
        return refused(std::move(counters),
                       fmt::format("{} has no {}, which {} comes of", identity.name,
                                   fmt::join(missing->counted.front().names(), " and "),
                                   missing->metric),
                       "count with Nsight Compute: --counters FILE.csv");
    counters.passes = run.passes;
    counters.cases[shape.id] = std::move(run.launches);
  }
  return std::optional(std::move(counters));
}

} // namespace kernevo
