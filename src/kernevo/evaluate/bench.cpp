#include "kernevo/evaluate/bench.h"

#include "kernevo/evaluate/measure_case.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/evaluate/predict_case.h"
#include "kernevo/evaluate/run_case.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

class Bench {
public:
  Bench(Device& device, const PreparedKernel& prepared, const BenchOptions& options)
      : device_(device), prepared_(prepared), task_(*prepared.task), options_(options) {}

  Result<BenchResult> run() {
    result_.device = device_.identity();
    result_.parameters = prepared_.parameters;
    result_.build = prepared_.build;
    if (prepared_.fault)
      fault(prepared_.fault->kind, prepared_.fault->summary);
    else
      KERNEVO_CHECK(load());
    for (const ShapeCase& shape : task_.shapes) {
      if (result_.fault || result_.stopped || !wants(options_, shape))
        continue;
      KERNEVO_CHECK(time_case(shape));
      if (!result_.fault && options_.go_on_timed && !options_.go_on_timed(result_.cases))
        result_.stopped = true;
    }
    if (result_.stopped)
      return std::move(result_);
    if (result_.fault)
      result_.cases.clear();
    else if (result_.cases.empty())
      return fail(ErrorCode::usage, "none of the task's shapes was chosen", Place{task_.file});
    else
      result_.objective = objective_of(task_.objective, result_.cases);
    return std::move(result_);
  }

private:
  void fault(FaultKind kind, std::string summary) {
    result_.fault = kind;
    result_.summary = std::move(summary);
  }

  bool measures() const { return device_.capabilities().measures; }

  Result<void> load() {
    if (!measures() && !device_.capabilities().instrumented)
      return fail(ErrorCode::infrastructure,
                  device_.identity().name + " neither measures times nor counts what they come of");
    KERNEVO_CHECK(check_cache(device_, options_.hot_cache));
    KERNEVO_TRY(loaded, load_kernel(device_, prepared_, {.memory_bytes = options_.memory_bytes}));
    if (loaded.refusal) {
      fault(fault_of(loaded.refusal->kind), loaded.refusal->message);
      return {};
    }
    subject_ = std::move(loaded.subject);
    if (measures() || compares_with_reference())
      reference_.fine =
          expectation_for(device_, task_, options_.seconds, options_.patience_minutes);
    if (!measures()) {
      if (compares_with_reference())
        reference_.rough =
            expectation_for(device_, task_, options_.seconds, options_.patience_minutes, true);
      KERNEVO_TRY(machine_code, machine_code_of(prepared_));
      machine_code_ = std::move(machine_code);
    }
    return {};
  }

  // What a modelled kernel writes while it is counted; the catalogue's answers are known anyhow.
  bool compares_with_reference() const {
    return options_.whole && options_.compare_with_reference &&
           task_.oracle == OracleKind::reference_kernel;
  }

  Result<void> time_case(const ShapeCase& shape) {
    auto timed = measures() ? measure_case(device_, *subject_, shape, reference_.fine, options_)
                            : predict_case(device_.identity(), *subject_, machine_code_, shape,
                                           options_, reference_);
    if (!timed)
      return tl::unexpected<Error>(timed.error());
    if (!timed->fault) {
      result_.cases.push_back(std::move(timed->bench));
      return {};
    }
    fault(timed->fault->kind, std::move(timed->fault->summary));
    result_.out_of_time = timed->fault->out_of_time;
    return {};
  }

  Device& device_;
  const PreparedKernel& prepared_;
  const Task& task_;
  const BenchOptions& options_;
  BenchResult result_;
  std::unique_ptr<KernelSubject> subject_;
  TimedReference reference_; // of what is written while it is timed
  std::optional<sass::SassModule> machine_code_;
};

} // namespace

std::string disturbance_of(const BenchResult& bench) {
  for (const CaseBench& c : bench.cases)
    if (c.timing.quality.grade == TimingGrade::disturbed)
      return c.timing.quality.reason;
  return {};
}

Result<void> check_cache(const Device& device, bool hot_cache) {
  if (!hot_cache || device.capabilities().hot_cache)
    return {};
  return fail(ErrorCode::usage,
              fmt::format("--hot-cache: the times of {} are modelled, all of them of cold caches",
                          device.identity().name),
              std::nullopt, "leave it out, or name a GPU");
}

bool wants(const BenchOptions& options, const ShapeCase& shape) {
  return options.only_cases.empty() ||
         std::find(options.only_cases.begin(), options.only_cases.end(), shape.id) !=
             options.only_cases.end();
}

Nanoseconds objective_of(Objective objective, const std::vector<CaseBench>& cases) {
  std::vector<WeightedTime> times;
  for (const CaseBench& c : cases)
    times.push_back({c.timing.median, c.weight});
  return objective_time(objective, times);
}

Result<BenchResult> bench_prepared(Device& device, const PreparedKernel& prepared,
                                   const BenchOptions& options) {
  return Bench(device, prepared, options).run();
}

Result<BenchResult> bench_kernel(Device& device, const Task& task, const KernelFile& kernel,
                                 const BenchOptions& options) {
  KERNEVO_TRY(prepared, prepare_kernel(device, task, kernel, options.parameters));
  return bench_prepared(device, prepared, options);
}

} // namespace kernevo
