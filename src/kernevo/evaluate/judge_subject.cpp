#include "kernevo/evaluate/judge_subject.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/limited_case.h"
#include "kernevo/evaluate/negative_controls.h"
#include "kernevo/evaluate/sampling.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/task/catalogue.h"

#include <algorithm>
#include <fmt/format.h>
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

class Climb {
public:
  Climb(Subject& subject, const Task& task, const ExpectationSource& expectation,
        const JudgeOptions& options, Verdict& verdict)
      : subject_(subject), task_(task), expectation_(expectation), options_(options),
        verdict_(verdict) {}

  Result<void> run() {
    KERNEVO_CHECK(small_shapes_rung());
    if (failed())
      return {};
    if (!options_.small_only) {
      KERNEVO_CHECK(hidden_shapes_rung());
      if (failed())
        return {};
      KERNEVO_CHECK(real_shapes_rung());
      if (failed())
        return {};
    }
    sum_up();
    return {};
  }

private:
  Verdict& verdict() { return verdict_; }
  bool failed() const { return verdict_.fault.has_value(); }

  void fault(FaultKind kind, std::string summary, FaultClass fault_class = FaultClass::candidate) {
    verdict().fault = kind;
    verdict().fault_class = fault_class;
    verdict().summary = std::move(summary);
  }

  void warn(std::string text, bool hidden) {
    auto& list = hidden ? verdict().hidden_warnings : verdict().warnings;
    list.push_back(std::move(text));
  }

  void contract_fault(const Error& error) {
    fault(FaultKind::interface_contract_error, format_error(error));
    verdict().diagnostics.push_back(
        {Diagnostic::Severity::error, error.place.value_or(Place{options_.file}), error.message});
  }

  void sum_up() {
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
  }

  // Is the case right when nothing is shuffled? Then its fault is that order matters at all.
  Result<void> blame_order(BoundSubject& subject, const CaseInputs& inputs, CaseOptions options,
                           CaseReport& report) {
    const std::uint64_t seed = options.order.seed;
    options.order = {};
    KERNEVO_TRY(in_order, run_limited_case(subject, inputs, expectation_, options,
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
    auto subject = subject_.bind(inputs.problem);
    if (!subject) {
      contract_fault(subject.error());
      return {};
    }
    KERNEVO_TRY(report, run_limited_case(**subject, inputs, expectation_, options,
                                         first_budget(inputs.problem)));
    if (report.fault == FaultKind::correctness_mismatch && options.order.shuffled)
      KERNEVO_CHECK(blame_order(**subject, inputs, options, report));
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
    options.instrumented = subject_.instrumented();
    options.sanitize = options.instrumented;
    if (!options.sanitize)
      return options;
    options.order = options_.order.value_or(
        RunOrder{set == InputSet::exact_integers, options_.seed + seeds_used_});
    return options;
  }

  std::uint64_t first_budget(const Problem& problem) const {
    return sanitized_budget(estimated_work(task_, problem));
  }

  std::uint64_t next_seed() { return options_.seed + seeds_used_++; }

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

  // The grid of which a part can stand for the whole.
  std::optional<std::array<std::int64_t, 3>> grid_to_sample(const BoundSubject& subject) const {
    if (!subject_.instrumented() || task_.oracle != OracleKind::catalogue)
      return std::nullopt;
    return subject.separable_grid();
  }

  Result<void> check_real_shape(const ShapeCase& shape) {
    KERNEVO_TRY(problem, make_problem(task_, shape));
    auto subject = subject_.bind(problem);
    if (!subject) {
      contract_fault(subject.error());
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
      if (const auto grid = grid_to_sample(**subject)) {
        const auto blocks = static_cast<double>((*subject)->blocks());
        const double affordable = std::max(4.0, kWholeRun * blocks / instructions);
        options.only_blocks = sample_blocks(
            *grid, std::min(kMostSampledBlocks, static_cast<std::uint64_t>(affordable)),
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

  Subject& subject_;
  const Task& task_;
  const ExpectationSource& expectation_;
  const JudgeOptions& options_;
  Verdict& verdict_;
  std::uint64_t seeds_used_ = 0;
  std::uint64_t last_instructions_ = 0;
  double instructions_per_work_ = 0;
  double shown_strict_ratio_ = 0;
  double hidden_strict_ratio_ = 0;
};

} // namespace

Result<void> judge_subject(Subject& subject, const Task& task, const ExpectationSource& expectation,
                           const JudgeOptions& options, Verdict& verdict) {
  return Climb(subject, task, expectation, options, verdict).run();
}

} // namespace kernevo
