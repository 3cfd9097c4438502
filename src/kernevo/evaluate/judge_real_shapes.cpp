#include "kernevo/evaluate/judge_real_shapes.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/device_turn.h"
#include "kernevo/evaluate/limited_case.h"
#include "kernevo/evaluate/run_part.h"
#include "kernevo/evaluate/sampling.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/task/catalogue.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace kernevo {
namespace {

// A kernel that may take less than this, by what it took on small shapes, is run whole at once; how
// long a longer one takes, and whether it ends, is found out with a few of its blocks.
constexpr double kBriefRun = 40e6;
// What a kernel may take in any case, for small shapes may show little.
constexpr double kLeastBudget = 200e6;
constexpr std::uint64_t kPilotBlocks = 24;
// With every sanitizer: as many blocks as take so many warp instructions, a tenth of a second; what
// takes much longer is given up.
constexpr double kSanitizedRun = 200e3;
constexpr double kSanitizedBlocks = 4;
constexpr std::uint64_t kSanitizedBudget = 1'000'000;
constexpr double kSanitizedBytesFactor = 12; // with what is known of each byte
// What all blocks do is kept for so many.
constexpr std::uint64_t kMostTallied = 1'000'000;
// Of a plan: launches to try, and scratch to make up.
constexpr std::size_t kMostParts = 8;
constexpr std::uint64_t kMostScratch = std::uint64_t{256} << 20U;
// Bounded runs: the telling blocks in so many groups, whose outputs say how much all blocks write.
constexpr std::uint64_t kGroups = 10;
constexpr double kRuns = 2; // of a real shape, usually
constexpr double kUnseen = 0.01;
constexpr double kStudent = 2.82; // one-sided 99 % of a mean of ten
// Operations the oracle may spend on one real case: all elements are compared when that is enough,
// else the telling points and as many more as this allows.
constexpr double kOracleWork = 4e8;
// The same where a GPU runs the kernel: for a second of patience, all runs of a shape together.
constexpr double kOracleWorkOfASecond = 2e8;
// Of the runs after the first, which compared all it could.
constexpr std::int64_t kLaterPoints = 1 << 16;
// Of a whole run: inputs twice (theirs and ours), outputs and their maps. A sampled one makes only
// what it touches.
constexpr double kBytesFactor = 3;

class RealShapes {
public:
  RealShapes(Subject& subject, const Task& task, const ExpectationSource& expectation,
             const JudgeOptions& options, double instructions_per_work, SecretSeeds& seeds,
             VerdictWriter& verdict)
      : subject_(subject), task_(task), expectation_(expectation), options_(options),
        instructions_per_work_(instructions_per_work), seeds_(seeds), verdict_(verdict) {}

  Result<void> run() {
    for (const ShapeCase& shape : task_.shapes) {
      KERNEVO_CHECK(check_shape(shape));
      if (verdict_.failed())
        return {};
    }
    return {};
  }

private:
  double patience() const { return patience_budget(options_.patience_minutes); }

  // A real shape with what its runs have in common.
  struct RealCase {
    const ShapeCase& shape;
    Problem problem;
    std::unique_ptr<BoundSubject> subject;
    double work = 0;
    double bytes = 0;
    CaseOptions options = {};
    std::optional<double> seconds_a_run = {}; // on an ordinary machine, then on this one
    bool all_compared = false;                // the oracle can afford it on every run
  };

  Result<void> check_shape(const ShapeCase& shape) {
    KERNEVO_TRY(problem, make_problem(task_, shape));
    auto subject = subject_.bind(problem);
    if (!subject) {
      verdict_.contract_fault(subject.error());
      return {};
    }
    RealCase real{shape, std::move(problem), std::move(*subject)};
    double outputs = 0;
    for (const BufferSpec& buffer : real.problem.buffers) {
      real.bytes += static_cast<double>(buffer.bytes());
      outputs += buffer.direction == Direction::in ? 0.0 : static_cast<double>(buffer.elements());
    }
    real.work = estimated_work(task_, real.problem);
    real.options.instrumented = subject_.instrumented();
    real.options.sanitize = false;
    real.options.widen = task_.oracle == OracleKind::catalogue;
    if (subject_.instrumented())
      real.options.order = options_.order.value_or(RunOrder{});
    real.options.seconds = std::max(options_.seconds, patience_seconds(options_.patience_minutes));
    if (task_.oracle == OracleKind::catalogue)
      real.options.point_limit =
          std::max(kTellingPoints + 1,
                   static_cast<std::int64_t>(oracle_work() / std::max(1.0, real.work / outputs)));
    real.all_compared = static_cast<double>(real.options.point_limit) >= outputs;
    return subject_.instrumented() ? run_shape(real) : run_on_device(real);
  }

  double oracle_work() const {
    if (subject_.instrumented())
      return kOracleWork;
    return std::max(kOracleWork, kOracleWorkOfASecond * 60 * options_.patience_minutes / kRuns);
  }

  // On a GPU a whole run is nothing to wait for, and there is no other way to run it.
  Result<void> run_on_device(RealCase& real) {
    if (real.bytes * kBytesFactor > static_cast<double>(options_.memory_bytes)) {
      verdict_.leave_unproven(
          fmt::format("case {} was not run: its tensors take {:.1f} GB; give it "
                      "more memory (--memory)",
                      real.shape.id, real.bytes / 1e9));
      return {};
    }
    std::unique_lock<std::mutex> turn;
    if (options_.shared != nullptr)
      turn = take_turn(*options_.shared);
    return run_whole(real, real_input_sets(real.problem), 0);
  }

  Result<void> run_shape(RealCase& real) {
    const auto grid = grid_to_sample(*real.subject);
    double instructions = instructions_per_work_ * real.work;
    bool estimated_in_secret = !task_.check_shapes.empty();
    const bool has_many_blocks = real.subject->blocks() >= 8 * kPilotBlocks;
    if (instructions > kBriefRun && grid && has_many_blocks) {
      KERNEVO_TRY(pilot, pilot_instructions(real, *grid));
      if (!pilot)
        return {};
      instructions = *pilot;
      estimated_in_secret = false;
    }
    if (!estimated_in_secret)
      real.seconds_a_run = 60 * instructions / patience_budget(1);
    KERNEVO_TRY(sane, run_sanitized(real, instructions));
    if (!sane)
      return {};
    const std::vector<InputSet> sets = real_input_sets(real.problem);
    const auto runs = static_cast<double>(sets.size());
    const bool too_long = instructions * runs > patience();
    const bool too_large = real.bytes * kBytesFactor > static_cast<double>(options_.memory_bytes);
    if (!too_long && !too_large)
      return run_whole(real, sets, instructions);
    std::string why = fmt::format("its tensors take {:.1f} GB", real.bytes / 1e9);
    if (!too_large) {
      why = "whole runs would take too long";
      const std::string figures = fmt::format(
          "about {:.0f} billion warp instructions ({:.0f} minutes)", runs * instructions / 1e9,
          std::ceil(runs * instructions / patience_budget(1)));
      if (estimated_in_secret) // a kernel can make the number say what it met
        verdict_.warn(fmt::format("whole runs of case {} would take {}", real.shape.id, figures),
                      true);
      else
        why += ", " + figures;
    }
    if (grid)
      return run_bounded(real, *grid, sets, instructions, why);
    verdict_.leave_unproven(fmt::format(
        "case {} was not run: {}, and its blocks cannot be run apart; {}", real.shape.id, why,
        too_large ? "give it more memory (--memory)" : "have more patience (--patience)"));
    return {};
  }

  // `share`: of the blocks, in one run.
  void tell(const RealCase& real, std::size_t done, std::size_t runs, double share) const {
    if (!options_.observer)
      return;
    CheckProgress progress{Rung::real_shapes, real.shape.id, done + 1, runs};
    if (real.seconds_a_run)
      progress.seconds_left = *real.seconds_a_run * share * static_cast<double>(runs - done);
    options_.observer(progress);
  }

  // All inputs one after the other, on one machine.
  Result<void> run_whole(RealCase& real, const std::vector<InputSet>& sets, double instructions) {
    const auto shown = static_cast<double>(shown_budget(real.work, instructions, 1));
    const double budget = std::clamp(shown, std::min(kLeastBudget, patience()), patience());
    real.options.instruction_budget = static_cast<std::uint64_t>(budget);
    real.options.keep_state = subject_.instrumented();
    real.options.tally = options_.tallies != nullptr && subject_.instrumented() &&
                         real.subject->blocks() <= kMostTallied;
    std::vector<std::vector<std::string>> changed; // module variables, after each run
    for (const InputSet set : sets) {
      // The last one in another order of blocks, which must not matter.
      if (changed.size() + 1 == sets.size() && real.options.go_on && !options_.order)
        real.options.order.shuffled = true;
      tell(real, changed.size(), sets.size(), 1);
      const auto begin = std::chrono::steady_clock::now();
      KERNEVO_TRY(report, run_next(real, set, options_.tallies != nullptr && changed.empty()));
      real.seconds_a_run =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!take_real(real, report))
        return {};
      if (real.options.tally && changed.empty())
        options_.tallies->insert_or_assign(real.shape.id, std::move(report.tallies));
      changed.push_back(std::move(report.changed_variables));
      if (real.options.point_limit > 0 && (subject_.instrumented() || !real.all_compared))
        real.options.point_limit = std::min(real.options.point_limit, kLaterPoints);
      real.options.go_on = subject_.instrumented();
    }
    const auto& later = changed.at(1);
    return later.empty() ? Result<void>() : run_scrambled(real, later.front());
  }

  // Where launches leave something behind, none may read it.
  Result<void> run_scrambled(RealCase& real, const std::string& variable) {
    real.options.scramble = true;
    KERNEVO_TRY(report, run_next(real, InputSet::nominal));
    if (take_real(real, report))
      verdict_.warn(fmt::format("launches leave something in '{}' (case {}); other values in it "
                                "made no difference",
                                variable, real.shape.id),
                    false);
    return {};
  }

  // What is timed afterwards has the inputs of the first run.
  Result<CaseReport> run_next(RealCase& real, InputSet set, bool is_timed = false) {
    real.options.points_seed = seeds_.next();
    if (subject_.instrumented())
      real.options.order.seed = seeds_.next();
    const std::uint64_t seed =
        is_timed ? timed_inputs_seed(options_.seed, real.shape.id) : seeds_.next();
    KERNEVO_TRY(report, run_limited_case(*real.subject, make_inputs(real.problem, set, seed),
                                         expectation_, real.options, 0));
    // Who waits for other blocks may poll for ever when the wrong ones run first.
    if (real.options.order.shuffled && used_up(report)) {
      real.options.order.shuffled = real.options.go_on = false;
      return run_next(real, set);
    }
    if (real.options.go_on && report.fault)
      KERNEVO_CHECK(blame(real, set, report));
    return report;
  }

  static bool used_up(const CaseReport& report) {
    return report.finding && (report.finding->kind == FindingKind::instruction_budget ||
                              report.finding->kind == FindingKind::deadlock ||
                              report.finding->kind == FindingKind::time_limit);
  }

  // Whether the climb goes on; a limit of ours is no fault of the kernel's.
  bool take_real(const RealCase& real, CaseReport& report) {
    const auto& finding = report.finding;
    const bool memory = finding && finding->kind == FindingKind::memory_limit;
    const bool patience_ended =
        finding && (finding->kind == FindingKind::time_limit ||
                    (finding->kind == FindingKind::instruction_budget &&
                     static_cast<double>(real.options.instruction_budget) >= patience()));
    if (!memory && !patience_ended) {
      verdict_.take(report, false);
      return !verdict_.failed();
    }
    verdict_.leave_unproven(fmt::format("case {} was not run to its end: {}; {}", real.shape.id,
                                        finding->message,
                                        memory ? "use less, or give it more memory (--memory)"
                                               : "have more patience (--patience)"));
    return false;
  }

  // Is a later launch right when nothing ran before it, or when its blocks run in their natural
  // order? Then that is its fault.
  Result<void> blame(const RealCase& real, InputSet set, CaseReport& report) {
    CaseOptions options = real.options;
    options.keep_state = options.go_on = options.scramble = false;
    const CaseInputs inputs = make_inputs(real.problem, set, report.record.seed.value_or(0));
    const auto is_right = [&]() -> Result<bool> {
      KERNEVO_TRY(alone, run_limited_case(*real.subject, inputs, expectation_, options, 0));
      return !alone.fault;
    };
    KERNEVO_TRY(right_alone, is_right());
    if (right_alone) {
      report.summary =
          "wrong when the kernel has run before, right when it has not: " + report.summary +
          "; what a launch leaves in module variables or scratch must not matter";
      return {};
    }
    if (!options.order.shuffled)
      return {};
    options.order.shuffled = false;
    KERNEVO_TRY(right_in_order, is_right());
    if (right_in_order) {
      report.fault = FaultKind::race_or_sync_error;
      report.summary =
          fmt::format("the result depends on the order of blocks, warps or atomics: {} "
                      "in shuffled order, right in natural order",
                      report.summary);
    }
    return {};
  }

  // A few blocks with every sanitizer: what a kernel leaves out at its real shape alone, such as a
  // barrier, need not show in what it writes. False when they are at fault.
  Result<bool> run_sanitized(const RealCase& real, double instructions) {
    if (!subject_.instrumented())
      return true;
    const auto grid = real.subject->separable_grid();
    const double each = std::max(1.0, instructions / static_cast<double>(real.subject->blocks()));
    CaseOptions options = real.options;
    options.sanitize = true;
    options.order = options_.order.value_or(RunOrder{true, seeds_.next()});
    options.instruction_budget = kSanitizedBudget;
    options.point_limit = 1;
    const auto few =
        static_cast<std::uint64_t>(std::clamp(kSanitizedRun / each, 1.0, kSanitizedBlocks));
    if (!grid) {
      KERNEVO_TRY(parts, run_parts_sanitized(real, options, few));
      return parts ? run_start_sanitized(real, std::move(options)) : false;
    }
    options.only_blocks = blocks_of(*grid, few);
    KERNEVO_TRY(inputs, make_inputs_on_demand(real.problem, InputSet::nominal, seeds_.next()));
    return is_sane(real, inputs, options, 0);
  }

  // Blocks that hand something on to each other, in each other's company: as far as a plan comes.
  Result<bool> run_start_sanitized(const RealCase& real, CaseOptions options) {
    if (real.bytes * kSanitizedBytesFactor > static_cast<double>(options_.memory_bytes))
      return true;
    if (!options_.order)
      options.order = {};
    return is_sane(real, make_inputs(real.problem, InputSet::nominal, seeds_.next()), options,
                   options.instruction_budget);
  }

  // What does not come to its end, or has not written everything, is not at fault for that.
  Result<bool> is_sane(const RealCase& real, const CaseInputs& inputs, const CaseOptions& options,
                       std::uint64_t first_budget) {
    const ExpectationSource anything = [](const CaseInputs&, std::size_t,
                                          std::span<const std::int64_t> points) {
      return Result<std::vector<Expected>>(std::vector<Expected>(points.size()));
    };
    KERNEVO_TRY(report, run_limited_case(*real.subject, inputs, anything, options, first_budget));
    if (!report.finding || used_up(report) || report.finding->kind == FindingKind::memory_limit)
      return true;
    verdict_.take(report, false);
    return false;
  }

  // The same of launches whose blocks cannot be run as the plan would run them.
  Result<bool> run_parts_sanitized(const RealCase& real, CaseOptions options, std::uint64_t few) {
    std::uint64_t scratch = 0;
    for (const ScratchBuffer& buffer : real.subject->scratch())
      scratch += buffer.bytes();
    if (scratch > kMostScratch)
      return true;
    const auto parts = real.subject->parts();
    for (std::size_t part = 0; part < std::min(parts.size(), kMostParts); ++part) {
      options.only_blocks = blocks_of(parts[part], few);
      options.points_seed = seeds_.next();
      KERNEVO_TRY(inputs, make_inputs_on_demand(real.problem, InputSet::nominal, seeds_.next()));
      KERNEVO_TRY(report, run_part(*real.subject, part, inputs, options));
      if (!report.finding || !is_race(report.finding->kind))
        continue;
      verdict_.take(report, false);
      return false;
    }
    return true;
  }

  std::vector<std::uint64_t> blocks_of(const std::array<std::int64_t, 3>& grid,
                                       std::uint64_t count) {
    return fill_choice({}, static_cast<std::uint64_t>(grid[0] * grid[1] * grid[2]), count,
                       seeds_.next());
  }

  // Of the whole shape, by a few blocks; nothing when they are at fault or take too long.
  Result<std::optional<double>> pilot_instructions(RealCase& real,
                                                   const std::array<std::int64_t, 3>& grid) {
    using Nothing = std::optional<double>;
    CaseOptions options = real.options;
    options.only_blocks = sample_blocks(grid, kPilotBlocks, seeds_.next());
    options.instruction_budget = shown_budget(real.work, instructions_per_work_ * real.work,
                                              static_cast<double>(options.only_blocks.size()) /
                                                  static_cast<double>(real.subject->blocks()));
    options.point_limit = 1;
    KERNEVO_TRY(inputs, make_inputs_on_demand(real.problem, InputSet::nominal, seeds_.next()));
    KERNEVO_TRY(report, run_limited_case(*real.subject, inputs, expectation_, options, 0));
    // Blocks that write nothing may still be a small part of what is right.
    if (report.fault && (report.finding || report.mismatch) && !take_real(real, report))
      return Nothing();
    return static_cast<double>(report.warp_instructions) *
           static_cast<double>(real.subject->blocks()) /
           static_cast<double>(options.only_blocks.size());
  }

  // Groups of random blocks: what they write is right, and all blocks together write everything.
  Result<void> run_bounded(RealCase& real, const std::array<std::int64_t, 3>& grid,
                           const std::vector<InputSet>& sets, double instructions,
                           const std::string& why) {
    const auto blocks = static_cast<double>(real.subject->blocks());
    const std::uint64_t in_group = (kTellingBlocks + kGroups - 1) / kGroups;
    const double share = static_cast<double>(in_group) / blocks;
    if (instructions * share * kGroups > patience()) {
      verdict_.leave_unproven(
          fmt::format("case {} was not run: {}, and enough of its blocks to tell would "
                      "take too long as well; have more patience (--patience)",
                      real.shape.id, why));
      return {};
    }
    real.options.instruction_budget = shown_budget(real.work, instructions, share);
    double elements = 0;
    for (const BufferSpec& buffer : real.problem.buffers)
      elements += buffer.direction == Direction::in ? 0.0 : static_cast<double>(buffer.elements());
    real.options.keep_state = true;
    std::vector<double> covered; // of the outputs, by all blocks, as each group says
    for (std::uint64_t group = 0; group < kGroups; ++group) {
      tell(real, group, kGroups, share);
      real.options.only_blocks = blocks_of(grid, in_group);
      real.options.points_seed = seeds_.next();
      KERNEVO_TRY(inputs,
                  make_inputs_on_demand(real.problem, sets[group % sets.size()], seeds_.next()));
      KERNEVO_TRY(report, run_limited_case(*real.subject, inputs, expectation_, real.options, 0));
      if (!take_real(real, report))
        return {};
      if (!report.changed_variables.empty()) {
        verdict_.leave_unproven(fmt::format(
            "case {}: {}, and its blocks change '{}', which others may read; have more patience "
            "(--patience), or use scratch",
            real.shape.id, why, report.changed_variables.front()));
        return {};
      }
      covered.push_back(static_cast<double>(report.written) / share / elements);
    }
    judge_coverage(real.shape, covered, why);
    return {};
  }

  void judge_coverage(const ShapeCase& shape, const std::vector<double>& covered,
                      const std::string& why) {
    const auto groups = static_cast<double>(covered.size());
    double mean = 0;
    for (const double one : covered)
      mean += one / groups;
    double squares = 0;
    for (const double one : covered)
      squares += (one - mean) * (one - mean);
    const double doubt = kStudent * std::sqrt(squares / (groups - 1) / groups);
    if (mean + doubt < 1 - kUnseen)
      verdict_.fault(
          FaultKind::uninitialized_memory_error,
          fmt::format("its blocks write about {:.0f} % of the outputs (case {}, by {} of them)",
                      100 * mean, shape.id, kGroups * ((kTellingBlocks + kGroups - 1) / kGroups)));
    else if (mean - doubt < 1 - kUnseen)
      verdict_.leave_unproven(fmt::format(
          "case {}: {}, and its blocks write so unevenly that a sample cannot tell whether they "
          "write everything; have more patience (--patience)",
          shape.id, why));
    else
      verdict_.leave_unseen(kUnseen);
  }

  // The grid of which a part can stand for the whole.
  std::optional<std::array<std::int64_t, 3>> grid_to_sample(const BoundSubject& subject) const {
    if (!subject_.instrumented() || task_.oracle != OracleKind::catalogue)
      return std::nullopt;
    return subject.separable_grid();
  }

  Subject& subject_;
  const Task& task_;
  const ExpectationSource& expectation_;
  const JudgeOptions& options_;
  double instructions_per_work_;
  SecretSeeds& seeds_;
  VerdictWriter& verdict_;
};

} // namespace

Result<void> judge_real_shapes(Subject& subject, const Task& task,
                               const ExpectationSource& expectation, const JudgeOptions& options,
                               double instructions_per_work, SecretSeeds& seeds,
                               VerdictWriter& verdict) {
  return RealShapes(subject, task, expectation, options, instructions_per_work, seeds, verdict)
      .run();
}

} // namespace kernevo
