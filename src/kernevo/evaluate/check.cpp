#include "kernevo/evaluate/check.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/judge_subject.h"
#include "kernevo/evaluate/reference_oracle.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/task/drawn_shapes.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace kernevo {
namespace {

class Ladder {
public:
  Ladder(Device& device, const PreparedKernel& prepared, const CheckOptions& options)
      : device_(device), prepared_(prepared), task_(*prepared.task), options_(options) {
    if (!device_.capabilities().instrumented && device_.companion())
      companion_ = device_.companion()->device.get();
  }

  Result<CheckResult> climb() {
    const auto start = std::chrono::steady_clock::now();
    result_.device = device_.identity();
    result_.parameters = prepared_.parameters;
    result_.build = prepared_.build;
    seed_ = options_.seed != 0 ? options_.seed : fresh_secret();
    result_.seed = seed_;
    drawn_ = draw_shapes(task_, derived_seed(seed_, "shapes"));
    KERNEVO_CHECK(climb_rungs());
    result_.verdict.correct = !result_.verdict.fault;
    result_.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

private:
  Verdict& verdict() { return result_.verdict; }

  void fault(FaultKind kind, std::string summary, FaultClass fault_class = FaultClass::candidate) {
    verdict().fault = kind;
    verdict().fault_class = fault_class;
    verdict().summary = std::move(summary);
  }
  bool failed() { return verdict().fault.has_value(); }

  // Each rung returns when it has set a fault; the first fault ends the climb.
  Result<void> climb_rungs() {
    built();
    if (failed())
      return {};
    KERNEVO_CHECK(resources());
    if (failed())
      return {};
    KERNEVO_CHECK(load());
    if (failed())
      return {};
    const bool apart = companion_ != nullptr;
    KERNEVO_CHECK(judge_subject({apart ? companion_subject_.get() : subject_.get(), subject_.get()},
                                task_, expectation_,
                                {.file = prepared_.kernel->path,
                                 .seed = seed_,
                                 .drawn = drawn_,
                                 .seconds = options_.seconds,
                                 .memory_bytes = options_.memory_bytes,
                                 .patience_minutes = options_.patience_minutes,
                                 .small_only = options_.small_only,
                                 .order = options_.order,
                                 .observer = options_.observer,
                                 .tallies = options_.tallies,
                                 .shared = apart ? &device_ : nullptr},
                                verdict()));
    if (was_coarse_ && was_coarse_())
      verdict().warnings.emplace_back(
          "the reference kernel's rounding errors are not known, for it could not be run in "
          "float64: tolerances are wide");
    return {};
  }

  // What preparing the kernel showed.
  void built() {
    verdict().rung = Rung::compile;
    verdict().diagnostics = prepared_.build.diagnostics;
    if (!prepared_.fault)
      return;
    verdict().rung = prepared_.fault->rung;
    fault(prepared_.fault->kind, prepared_.fault->summary);
    if (prepared_.fault->diagnostic)
      verdict().diagnostics.push_back(*prepared_.fault->diagnostic);
  }

  // Does every launch of the first real shape fit the GPU at all?
  Result<void> resources() {
    verdict().rung = Rung::resources;
    const Gpu& gpu = device_.gpu();
    KERNEVO_TRY(problem, make_problem(task_, task_.shapes.front()));
    KERNEVO_TRY(plan, prepared_.plan(problem));
    for (const Launch& launch : plan.launches) {
      const KernelResources* r = result_.build.resources_of(launch.kernel);
      if (r == nullptr || !r->registers)
        continue;
      const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
      if (threads < 1 || threads > gpu.max_threads_per_block)
        continue; // the launch itself reports it, with its line
      const Bytes shared{
          r->static_shared.value_or(Bytes{0}).value +
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, launch.dynamic_shared))};
      const auto fits = compute_occupancy(gpu, static_cast<int>(threads), *r->registers, shared);
      if (fits)
        result_.occupancy.push_back({launch.kernel, *fits});
      else
        fault(FaultKind::interface_contract_error,
              fmt::format("{}:{}: {}", launch.place.file, launch.place.line, fits.error().message));
      if (r->spill_stores && r->spill_stores->value > 0)
        verdict().warnings.push_back(
            fmt::format("kernel '{}' spills {} bytes of registers per thread", launch.kernel,
                        r->spill_stores->value));
    }
    return {};
  }

  Result<void> load() {
    const std::vector<ShapeCase> unseen = unseen_shapes(task_, drawn_);
    KERNEVO_TRY(build, build_for(device_, prepared_, unseen));
    if (!build.ok) {
      refuse(build);
      return {};
    }
    if (companion_ != nullptr)
      KERNEVO_CHECK(load_companion(build, unseen));
    if (!failed() && (companion_ == nullptr || !options_.small_only)) {
      KERNEVO_TRY(subject, load_on(device_, prepared_, std::move(build)));
      subject_ = std::move(subject);
      if (subject_)
        result_.code = subject_->module().code();
    }
    return failed() ? Result<void>() : make_expectation(unseen);
  }

  void refuse(const Build& build) {
    const PreparationFault trouble = of_hidden_case(compile_fault(build));
    verdict().rung = trouble.rung;
    verdict().diagnostics = build.diagnostics;
    fault(trouble.kind, trouble.summary);
  }

  // Null, with the fault in the verdict, for a module that is refused.
  Result<std::unique_ptr<KernelSubject>> load_on(Device& device, const PreparedKernel& prepared,
                                                 Build build) {
    KERNEVO_TRY(loaded, load_kernel(device, prepared, std::move(build),
                                    {.memory_bytes = options_.memory_bytes,
                                     .fresh_process = options_.fresh_process}));
    if (loaded.refusal) {
      verdict().finding = loaded.refusal;
      fault(fault_of(loaded.refusal->kind), loaded.refusal->message, FaultClass::ambiguous);
    }
    return std::move(loaded.subject);
  }

  // The same PTX where that can be; else the same source, compiled for the companion.
  Result<void> load_companion(const Build& build, std::span<const ShapeCase> unseen) {
    KERNEVO_TRY(ours, device_.architecture());
    KERNEVO_TRY(theirs, companion_->architecture());
    const bool same = ours == theirs || prepared_.kernel->architecture;
    verdict().judged_by = fmt::format(
        "small shapes with every sanitizer on {}, {}{}; {}", companion_->identity().name,
        device_.companion()->likeness, same ? "" : fmt::format(", compiled for {} there", theirs),
        options_.small_only ? "real shapes were not wanted"
                            : fmt::format("real shapes whole on {}{}", title_of(device_.identity()),
                                          driver_text()));
    if (same) {
      KERNEVO_TRY(subject, load_on(*companion_, prepared_, build));
      companion_subject_ = std::move(subject);
      return {};
    }
    KERNEVO_TRY(again, prepare_kernel(*companion_, task_, *prepared_.kernel, prepared_.parameters));
    companion_prepared_ = std::move(again);
    KERNEVO_TRY(other, build_for(*companion_, *companion_prepared_, unseen));
    if (!other.ok) {
      refuse(other);
      return {};
    }
    KERNEVO_TRY(subject, load_on(*companion_, *companion_prepared_, std::move(other)));
    companion_subject_ = std::move(subject);
    return {};
  }

  std::string driver_text() const {
    const DeviceIdentity& device = device_.identity();
    return (device.driver.empty() ? "" : ", driver " + device.driver) +
           (device.stand_in.empty() ? "" : ", played by " + device.stand_in);
  }

  Result<void> make_expectation(std::span<const ShapeCase> unseen) {
    if (task_.oracle != OracleKind::reference_kernel) {
      expectation_ = catalogue_expectation();
      return {};
    }
    KERNEVO_TRY(oracle,
                make_reference_oracle(
                    companion_ != nullptr ? *companion_ : device_, task_, unseen,
                    {static_cast<std::uint64_t>(patience_budget(options_.patience_minutes)),
                     std::max(options_.seconds, patience_seconds(options_.patience_minutes))}));
    expectation_ = std::move(oracle.expectation);
    was_coarse_ = std::move(oracle.was_coarse);
    return {};
  }

  Device& device_;
  const PreparedKernel& prepared_;
  const Task& task_;
  const CheckOptions& options_;
  CheckResult result_;
  std::uint64_t seed_ = 0;
  std::vector<ShapeCase> drawn_; // for this check
  Device* companion_ = nullptr;  // runs what needs instruments, where the device has none
  std::optional<PreparedKernel> companion_prepared_; // where the device's build does not do
  std::unique_ptr<KernelSubject> companion_subject_;
  std::unique_ptr<KernelSubject> subject_;
  ExpectationSource expectation_;
  std::function<bool()> was_coarse_; // of a reference kernel
};

} // namespace

Result<CheckResult> check_prepared(Device& device, const PreparedKernel& prepared,
                                   const CheckOptions& options) {
  return Ladder(device, prepared, options).climb();
}

Result<CheckResult> check_kernel(Device& device, const Task& task, const KernelFile& kernel,
                                 const CheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  KERNEVO_TRY(prepared, prepare_kernel(device, task, kernel, options.parameters));
  KERNEVO_TRY(result, check_prepared(device, prepared, options));
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

} // namespace kernevo
