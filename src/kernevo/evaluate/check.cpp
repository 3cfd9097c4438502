#include "kernevo/evaluate/check.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/limited_case.h"
#include "kernevo/evaluate/negative_controls.h"
#include "kernevo/evaluate/reference_oracle.h"
#include "kernevo/evaluate/sampling.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/ptx/facts.h"
#include "kernevo/task/catalogue.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <random>
#include <utility>

namespace kernevo {
namespace {

// A shape that needs no more warp instructions than this is run whole, a larger one by sample.
constexpr double kWholeRun = 40e6;
// Where sampling would prove nothing (launches that depend on each other, atomics), a whole run may
// cost this much.
constexpr double kPatientRun = 600e6;
constexpr std::uint64_t kMostSampledBlocks = 48;
// Multiply-adds the oracle may spend on one large case.
constexpr double kOracleWork = 4e8;
constexpr std::size_t kPrintedKept = 4096; // characters of printf output shown
// Of a whole run: inputs twice (theirs and ours), outputs and their maps. A sampled one makes only
// what it touches.
constexpr double kBytesFactor = 3;

std::uint64_t fresh_seed() {
  std::random_device source;
  return (std::uint64_t{source()} << 16U | source() % 65536U) & 0xFFFFFFFFFFFFU;
}

class Ladder {
public:
  Ladder(Device& device, const PreparedKernel& prepared, const CheckOptions& options)
      : device_(device), prepared_(prepared), task_(*prepared.task), options_(options) {}

  Result<CheckResult> climb() {
    const auto start = std::chrono::steady_clock::now();
    result_.device = device_.identity();
    result_.parameters = prepared_.parameters;
    result_.build = prepared_.build;
    seed_ = options_.seed != 0 ? options_.seed : fresh_seed();
    result_.seed = seed_;
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

  void warn(std::string text, bool hidden) {
    auto& list = hidden ? verdict().hidden_warnings : verdict().warnings;
    list.push_back(std::move(text));
  }

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
    KERNEVO_CHECK(small_shapes_rung());
    if (failed() || options_.small_only)
      return finish();
    KERNEVO_CHECK(hidden_shapes_rung());
    if (failed())
      return {};
    KERNEVO_CHECK(real_shapes_rung());
    return finish();
  }

  Result<void> finish() {
    if (failed())
      return {};
    double worst = 0;
    std::uint64_t elements = 0;
    for (const CheckedCase& c : verdict().cases) {
      worst = std::max(worst, c.worst_error_ratio);
      elements += c.elements_checked.value_or(0);
    }
    verdict().summary = fmt::format(
        "correct on {} cases, {} elements compared, worst error {:.0f} % of its tolerance",
        verdict().cases.size(), elements, worst * 100);
    const double worst_strict = std::max(shown_strict_ratio_, hidden_strict_ratio_);
    if (worst_strict > 8)
      warn(fmt::format("passes only by the declared tolerance: the worst error is {:.0f} times "
                       "what {} arithmetic with float32 accumulation explains",
                       worst_strict, name_of(task_.dtype)),
           hidden_strict_ratio_ > shown_strict_ratio_);
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

  void contract_fault(const Error& error) {
    fault(FaultKind::interface_contract_error, format_error(error));
    verdict().diagnostics.push_back({Diagnostic::Severity::error,
                                     error.place.value_or(Place{prepared_.kernel->path}),
                                     error.message});
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
        warn(fmt::format("kernel '{}' spills {} bytes of registers per thread", launch.kernel,
                         r->spill_stores->value),
             false);
    }
    return {};
  }

  Result<void> load() {
    KERNEVO_TRY(loaded, load_subject(device_, prepared_,
                                     {.memory_bytes = options_.memory_bytes,
                                      .fresh_process = options_.fresh_process}));
    if (loaded.refusal) {
      verdict().finding = loaded.refusal;
      fault(fault_of(loaded.refusal->kind), loaded.refusal->message, FaultClass::ambiguous);
      return {};
    }
    subject_ = std::move(loaded.subject);
    if (task_.oracle == OracleKind::reference_kernel) {
      KERNEVO_TRY(oracle, make_reference_oracle(device_, task_, options_.seconds));
      expectation_ = std::move(oracle);
    } else {
      expectation_ = [](const CaseInputs& inputs, std::size_t output,
                        std::span<const std::int64_t> points) {
        return expected_values(inputs.problem, oracle_inputs(inputs), output, points);
      };
    }
    return {};
  }

  // Is the case right when nothing is shuffled? Then its fault is that order matters at all.
  Result<void> blame_order(const CaseInputs& inputs, const LaunchPlan& plan, CaseOptions options,
                           CaseReport& report) {
    const std::uint64_t seed = options.order.seed;
    options.order = {};
    KERNEVO_TRY(in_order, run_limited_case(subject_, inputs, plan, expectation_, options,
                                           first_budget(inputs.problem)));
    if (in_order.fault)
      return {};
    report.fault = FaultKind::race_or_sync_error;
    report.summary = fmt::format("the result depends on the order of blocks, warps or atomics: {} "
                                 "in shuffled order {}, right in natural order",
                                 report.summary, seed);
    return {};
  }

  Result<void> try_case(const CaseInputs& inputs, bool hidden, const CaseOptions& options) {
    return marked(take_case(inputs, hidden, options), hidden);
  }

  template <class T> static Result<T> marked(Result<T> result, bool hidden) {
    if (!result && hidden)
      return tl::unexpected<Error>(of_hidden_case(std::move(result).error()));
    return result;
  }

  // Runs one case and takes its outcome into the verdict.
  Result<void> take_case(const CaseInputs& inputs, bool hidden, const CaseOptions& options) {
    auto plan = prepared_.plan(inputs.problem);
    if (!plan) {
      contract_fault(plan.error());
      return {};
    }
    KERNEVO_TRY(report, run_limited_case(subject_, inputs, *plan, expectation_, options,
                                         first_budget(inputs.problem)));
    if (report.fault == FaultKind::correctness_mismatch && options.order.shuffled)
      KERNEVO_CHECK(blame_order(inputs, *plan, options, report));
    if (inputs.on_demand() && report.finding && report.finding->kind == FindingKind::memory_limit) {
      warn(fmt::format("case {} was checked on small shapes only: {}", report.record.case_id,
                       report.summary),
           hidden);
      return {};
    }
    report.record.hidden = hidden;
    verdict().cases.push_back(report.record);
    double& strict = hidden ? hidden_strict_ratio_ : shown_strict_ratio_;
    strict = std::max(strict, report.worst_strict_ratio);
    last_instructions_ = report.warp_instructions;
    take_printed(report, hidden);
    if (!report.fault)
      return {};
    const bool crash = report.finding && report.finding->kind == FindingKind::crash;
    fault(*report.fault, report.summary, crash ? FaultClass::ambiguous : FaultClass::candidate);
    verdict().finding = report.finding;
    verdict().mismatch = report.mismatch;
    verdict().failing_case = report.record;
    return {};
  }

  void take_printed(const CaseReport& report, bool hidden) {
    if (!verdict().printed.empty() || report.printed.empty())
      return;
    verdict().printed = report.printed.substr(0, kPrintedKept);
    if (report.output_flood)
      warn(fmt::format("the kernel prints more than 1 MB in case {}; the rest was dropped",
                       report.record.case_id),
           hidden);
  }

  CaseOptions thorough(const Problem& problem, InputSet set = InputSet::nominal) const {
    CaseOptions options;
    options.seconds = options_.seconds;
    options.instruction_budget = runaway_budget(estimated_work(task_, problem));
    options.sanitize = device_.capabilities().instrumented;
    if (!options.sanitize)
      return options;
    options.order =
        options_.order.value_or(RunOrder{set == InputSet::exact_integers, seed_ + seeds_used_});
    return options;
  }

  std::uint64_t first_budget(const Problem& problem) const {
    return sanitized_budget(estimated_work(task_, problem));
  }

  std::uint64_t next_seed() { return seed_ + seeds_used_++; }

  Result<void> small_shapes_rung() {
    verdict().rung = Rung::small_shapes;
    bool controlled = false;
    const bool hidden = task_.check_shapes_given;
    // A kernel may rely on what its task's shapes have in common; who lists check_shapes says which
    // others it must take.
    for (const ShapeCase& shape : hidden ? task_.check_shapes : small_shapes(task_)) {
      KERNEVO_TRY(problem, marked(make_problem(task_, shape), hidden));
      for (const InputSet set : input_sets(problem)) {
        const CaseInputs inputs = make_inputs(problem, set, next_seed());
        KERNEVO_CHECK(try_case(inputs, hidden, thorough(problem, set)));
        if (failed())
          return {};
        if (set != InputSet::nominal)
          continue;
        instructions_per_work_ =
            std::max(instructions_per_work_,
                     static_cast<double>(last_instructions_) / estimated_work(task_, problem));
        if (!std::exchange(controlled, true)) {
          KERNEVO_TRY(warnings, marked(negative_controls(inputs, expectation_), hidden));
          for (std::string& warning : warnings)
            warn(std::move(warning), hidden);
        }
      }
    }
    return {};
  }

  // Shapes no proposer was shown, on nominal inputs and one other set in turn.
  Result<void> hidden_shapes_rung() {
    verdict().rung = Rung::hidden_shapes;
    if (task_.check_shapes_given)
      return {}; // checked in full as the small shapes
    std::size_t turn = 0;
    for (const ShapeCase& shape : task_.check_shapes) {
      KERNEVO_TRY(problem, marked(make_problem(task_, shape), true));
      const std::vector<InputSet> sets = input_sets(problem);
      std::vector<InputSet> chosen = {InputSet::nominal};
      if (sets.size() > 1)
        chosen.push_back(sets[1 + turn++ % (sets.size() - 1)]);
      for (const InputSet set : chosen) {
        KERNEVO_CHECK(
            try_case(make_inputs(problem, set, next_seed()), true, thorough(problem, set)));
        if (failed())
          return {};
      }
    }
    return {};
  }

  Result<void> real_shapes_rung() {
    verdict().rung = Rung::real_shapes;
    for (const ShapeCase& shape : task_.shapes) {
      const bool done = std::any_of(verdict().cases.begin(), verdict().cases.end(),
                                    [&](const CheckedCase& c) { return c.case_id == shape.id; });
      if (done)
        continue; // its small version was the shape itself
      KERNEVO_CHECK(check_real_shape(shape));
      if (failed())
        return {};
    }
    return {};
  }

  // Blocks may be run apart when nothing they write depends on other blocks.
  bool can_sample(const LaunchPlan& plan) const {
    return device_.capabilities().instrumented && plan.launches.size() == 1 &&
           !plan.launches.front().cooperative && task_.oracle == OracleKind::catalogue &&
           !ptx::blocks_may_meet(ptx::facts_of(result_.build.ptx));
  }

  Result<void> check_real_shape(const ShapeCase& shape) {
    KERNEVO_TRY(problem, make_problem(task_, shape));
    auto plan = prepared_.plan(problem);
    if (!plan) {
      contract_fault(plan.error());
      return {};
    }
    double bytes = 0;
    double outputs = 0;
    for (const BufferSpec& buffer : problem.buffers) {
      bytes += static_cast<double>(buffer.bytes());
      outputs += buffer.direction == Direction::in ? 0.0 : static_cast<double>(buffer.elements());
    }
    const double work = estimated_work(task_, problem);
    const double instructions = instructions_per_work_ * work;
    CaseOptions options = thorough(problem);
    options.sanitize = false;
    options.point_limit = static_cast<std::int64_t>(
        std::clamp(kOracleWork / std::max(1.0, work / outputs), 256.0, 4e6));
    double share = 1; // of the blocks
    if (instructions > kWholeRun) {
      if (can_sample(*plan)) {
        const auto& grid = plan->launches.front().grid;
        const double blocks = static_cast<double>(grid[0]) * static_cast<double>(grid[1]) *
                              static_cast<double>(grid[2]);
        const double affordable = std::max(4.0, kWholeRun * blocks / instructions);
        options.only_blocks = sample_blocks(
            grid, std::min(kMostSampledBlocks, static_cast<std::uint64_t>(affordable)),
            next_seed());
        share = static_cast<double>(options.only_blocks.size()) / blocks;
      } else if (instructions > kPatientRun) {
        // By what the small shapes took, which are hidden when the task lists them.
        warn(fmt::format("case {} was checked on small shapes only: its blocks depend on each "
                         "other and a whole run would take about {:.0f} billion warp instructions",
                         shape.id, instructions / 1e9),
             task_.check_shapes_given);
        return {};
      }
    }
    options.instruction_budget = shown_budget(work, instructions, share);
    if (!options.only_blocks.empty()) {
      KERNEVO_TRY(inputs,
                  make_inputs_on_demand(std::move(problem), InputSet::nominal, next_seed()));
      return try_case(inputs, false, options);
    }
    if (bytes * kBytesFactor > static_cast<double>(options_.memory_bytes)) {
      warn(fmt::format("case {} was checked on small shapes only: its tensors take {:.1f} GB",
                       shape.id, bytes / 1e9),
           false);
      return {};
    }
    return try_case(make_inputs(std::move(problem), InputSet::nominal, next_seed()), false,
                    options);
  }

  Device& device_;
  const PreparedKernel& prepared_;
  const Task& task_;
  const CheckOptions& options_;
  CheckResult result_;
  Subject subject_;
  ExpectationSource expectation_;
  std::uint64_t seed_ = 0;
  std::uint64_t seeds_used_ = 0;
  std::uint64_t last_instructions_ = 0;
  double instructions_per_work_ = 0;
  double shown_strict_ratio_ = 0;
  double hidden_strict_ratio_ = 0;
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
