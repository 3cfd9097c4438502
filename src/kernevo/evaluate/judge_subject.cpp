#include "kernevo/evaluate/judge_subject.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/judge_real_shapes.h"
#include "kernevo/evaluate/limited_case.h"
#include "kernevo/evaluate/negative_controls.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/evaluate/verdict_writer.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/task/catalogue.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace kernevo {
namespace {

class Climb {
public:
  Climb(const JudgedSubjects& subjects, const Task& task, const ExpectationSource& expectation,
        const JudgeOptions& options, Verdict& verdict)
      : subject_(*subjects.small), real_(subjects.real), task_(task), expectation_(expectation),
        options_(options), verdict_(verdict, options.file), seeds_(options.seed) {}

  Result<void> run() {
    KERNEVO_CHECK(small_shapes_rung());
    if (!verdict_.failed() && !options_.small_only)
      KERNEVO_CHECK(hidden_shapes_rung());
    if (!verdict_.failed() && !options_.small_only && real_ != nullptr) {
      verdict_.begin(Rung::real_shapes);
      KERNEVO_CHECK(judge_real_shapes(*real_, task_, expectation_, options_, instructions_per_work_,
                                      seeds_, verdict_));
    }
    verdict_.conclude(task_);
    return {};
  }

private:
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
      verdict_.contract_fault(subject.error());
      return {};
    }
    KERNEVO_TRY(report, run_limited_case(**subject, inputs, expectation_, options,
                                         first_budget(inputs.problem)));
    if (report.fault == FaultKind::correctness_mismatch && options.order.shuffled)
      KERNEVO_CHECK(blame_order(**subject, inputs, options, report));
    last_instructions_ = report.warp_instructions;
    last_changed_ = report.changed_variables;
    verdict_.take(report, hidden);
    return {};
  }

  CaseOptions thorough(const Problem& problem, InputSet set = InputSet::nominal) {
    CaseOptions options;
    options.points_seed = seeds_.next();
    options.widen = task_.oracle == OracleKind::catalogue;
    options.seconds = options_.seconds;
    options.instruction_budget = runaway_budget(estimated_work(task_, problem));
    options.instrumented = subject_.instrumented();
    options.sanitize = options.instrumented;
    if (!options.sanitize)
      return options;
    options.order =
        options_.order.value_or(RunOrder{set == InputSet::exact_integers, seeds_.next()});
    return options;
  }

  std::uint64_t first_budget(const Problem& problem) const {
    return sanitized_budget(estimated_work(task_, problem));
  }

  void begin(Rung rung) {
    verdict_.begin(rung);
    if (options_.observer)
      options_.observer({.rung = rung});
  }

  Result<void> small_shapes_rung() {
    begin(Rung::small_shapes);
    bool controlled = false;
    const bool hidden = !task_.check_shapes.empty();
    // A kernel may rely on what its task's shapes have in common; who lists check_shapes says which
    // others it must take.
    for (const ShapeCase& shape : hidden ? task_.check_shapes : small_shapes(task_)) {
      KERNEVO_TRY(problem, marked(make_problem(task_, shape), hidden));
      for (const InputSet set : input_sets(problem)) {
        const CaseInputs inputs = make_inputs(problem, set, seeds_.next());
        CaseOptions options = thorough(problem, set);
        options.keep_state = options.instrumented && !controlled;
        KERNEVO_CHECK(try_case(inputs, hidden, options));
        if (verdict_.failed())
          return {};
        if (set != InputSet::nominal)
          continue;
        take_cost(estimated_work(task_, problem));
        if (!controlled)
          KERNEVO_CHECK(run_again(problem, hidden));
        if (verdict_.failed())
          return {};
        if (!std::exchange(controlled, true)) {
          KERNEVO_TRY(warnings, marked(negative_controls(inputs, expectation_), hidden));
          for (std::string& warning : warnings)
            verdict_.warn(std::move(warning), hidden);
        }
      }
    }
    return {};
  }

  // More launches on the same machine: they must be right with what the first one left in module
  // variables, and must not read it unless it comes full circle.
  Result<void> run_again(const Problem& problem, bool hidden) {
    CaseOptions options = thorough(problem);
    if (!options.instrumented)
      return {};
    KERNEVO_TRY(subject, marked(subject_.bind(problem), hidden));
    options.keep_state = options.go_on = true;
    const bool left_something = !last_changed_.empty();
    KERNEVO_CHECK(run_later(*subject, problem, hidden, options));
    if (verdict_.failed() || !left_something || last_changed_.empty())
      return {};
    options.scramble = true;
    return run_later(*subject, problem, hidden, options);
  }

  Result<void> run_later(BoundSubject& subject, const Problem& problem, bool hidden,
                         CaseOptions options) {
    options.points_seed = seeds_.next();
    KERNEVO_TRY(report,
                marked(run_case(subject, make_inputs(problem, InputSet::nominal, seeds_.next()),
                                expectation_, options),
                       hidden));
    if (report.fault)
      report.summary =
          "wrong when the kernel has run before, right when it has not: " + report.summary +
          "; what a launch leaves in module variables or scratch must not matter";
    last_changed_ = report.changed_variables;
    verdict_.take(report, hidden);
    return {};
  }

  // The largest shape says best what larger ones will take: a shape of one element is all start.
  void take_cost(double work) {
    if (work < most_work_)
      return;
    most_work_ = work;
    instructions_per_work_ = static_cast<double>(last_instructions_) / work;
  }

  // Shapes drawn for this check, on nominal inputs, and every other one on another set in turn.
  Result<void> hidden_shapes_rung() {
    begin(Rung::hidden_shapes);
    std::size_t turn = 0;
    for (const ShapeCase& shape : options_.drawn) {
      KERNEVO_TRY(problem, marked(make_problem(task_, shape), true));
      const std::vector<InputSet> sets = input_sets(problem);
      std::vector<InputSet> chosen = {InputSet::nominal};
      if (sets.size() > 1 && turn++ % 2 == 0)
        chosen.push_back(sets[1 + turn / 2 % (sets.size() - 1)]);
      for (const InputSet set : chosen) {
        const CaseInputs inputs = make_inputs(problem, set, seeds_.next());
        KERNEVO_TRY(known, marked(is_answered(inputs), true));
        if (!known)
          break;
        KERNEVO_CHECK(try_case(inputs, true, thorough(problem, set)));
        if (verdict_.failed())
          return {};
      }
    }
    return {};
  }

  // A task's own reference may fail on a shape that the task does not list, or leave elements as
  // they were: such a shape asks too much.
  Result<bool> is_answered(const CaseInputs& inputs) const {
    if (task_.oracle != OracleKind::reference_kernel || inputs.set != InputSet::nominal)
      return true;
    const std::vector<BufferSpec>& buffers = inputs.problem.buffers;
    for (std::size_t output = 0; output < buffers.size(); ++output) {
      if (buffers[output].direction == Direction::in)
        continue;
      std::vector<std::int64_t> points(static_cast<std::size_t>(buffers[output].elements()));
      std::iota(points.begin(), points.end(), std::int64_t{0});
      const auto expected = expectation_(inputs, output, points);
      if (!expected && expected.error().code != ErrorCode::input)
        return tl::unexpected<Error>(expected.error());
      if (!expected || std::any_of(expected->begin(), expected->end(),
                                   [](const Expected& one) { return std::isnan(one.value); }))
        return false;
    }
    return true;
  }

  Subject& subject_; // of all but the real shapes
  Subject* real_;
  const Task& task_;
  const ExpectationSource& expectation_;
  const JudgeOptions& options_;
  VerdictWriter verdict_;
  SecretSeeds seeds_;
  std::uint64_t last_instructions_ = 0;   // of the last case
  std::vector<std::string> last_changed_; // module variables, after it
  double most_work_ = 0;                  // of the shapes run so far
  double instructions_per_work_ = 0;
};

} // namespace

Result<void> judge_subject(const JudgedSubjects& subjects, const Task& task,
                           const ExpectationSource& expectation, const JudgeOptions& options,
                           Verdict& verdict) {
  return Climb(subjects, task, expectation, options, verdict).run();
}

Result<void> judge_subject(Subject& subject, const Task& task, const ExpectationSource& expectation,
                           const JudgeOptions& options, Verdict& verdict) {
  return judge_subject({&subject, &subject}, task, expectation, options, verdict);
}

} // namespace kernevo
