#include "kernevo/tune/kernel_objective.h"

#include "kernevo/evaluate/instance_identity.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/predict/counters.h"

#include <fmt/format.h>

namespace kernevo::tune {

using search::Outcome;
using search::Trial;

namespace {

constexpr double kDoubt = 0.1;

// How a search calls what went wrong.
Outcome outcome_of(FaultKind fault) {
  switch (fault) {
  case FaultKind::syntax_error:
  case FaultKind::semantic_compile_error: return Outcome::compile;
  case FaultKind::interface_contract_error: return Outcome::resources;
  case FaultKind::correctness_mismatch: return Outcome::wrong;
  case FaultKind::memory_safety_error:
  case FaultKind::race_or_sync_error:
  case FaultKind::uninitialized_memory_error:
  case FaultKind::candidate_runtime_error: return Outcome::run;
  case FaultKind::unproven: return Outcome::failed;
  }
  return Outcome::failed;
}

} // namespace

std::map<std::string, double> counters_of_case(const CaseBench& bench) {
  std::map<std::string, double> counters;
  for (const LaunchBench& launch : bench.launches) {
    for (const Counter& counter : counters_of(launch.counts).all)
      counters[counter.name] += counter.value;
    const Prediction& p = launch.prediction;
    for (const TimingTerm& bound : p.bounds)
      counters["bound." + bound.name + ".ns"] += bound.time.value;
    counters["traffic.l2.bytes"] += p.traffic.l2_read_bytes + p.traffic.l2_write_bytes;
    counters["traffic.dram.bytes"] += p.traffic.dram_read_bytes + p.traffic.dram_write_bytes;
    counters["occupancy"] += p.occupancy.fraction;
    counters["waves"] += p.waves;
    counters["registers"] += launch.resources.registers.value_or(0);
  }
  return counters;
}

ShapeTime shape_time(const CaseBench& bench) {
  return {bench.case_id, bench.timing.median, bench.timing.interval.low,
          bench.timing.interval.high};
}

Trial trial_of(const BenchResult& bench) {
  Trial trial;
  trial.counters = counters_of_case(bench.cases.front());
  for (const CaseBench& one : bench.cases)
    trial.shapes.push_back(shape_time(one));
  return trial;
}

Result<std::optional<Trial>> failed_trial(const Result<BenchResult>& bench) {
  if (bench && !bench->fault)
    return std::optional<Trial>();
  Trial trial;
  if (bench) {
    trial.outcome = outcome_of(*bench->fault);
    trial.reason = trial.outcome == Outcome::wrong
                       ? fmt::format("{}: {}", name_of(*bench->fault), bench->summary)
                       : bench->summary;
    return std::optional(std::move(trial));
  }
  // An instruction the virtual GPU does not have stops one configuration, not the others.
  if (bench.error().code != ErrorCode::unsupported)
    return tl::unexpected<Error>(bench.error());
  trial.outcome = Outcome::failed;
  trial.reason = format_error(bench.error());
  return std::optional(std::move(trial));
}

KernelObjective::KernelObjective(Device& device, const Task& task, const KernelFile& kernel,
                                 BenchOptions bench, std::uint64_t check_seed, Audience audience)
    : device_(device), task_(task), kernel_(kernel), bench_(std::move(bench)),
      check_seed_(check_seed), audience_(audience), race_(task) {}

double doubt_of(const Device& device) {
  return device.capabilities().measures ? kDoubt : 0;
}

Result<void> refuse_disturbed(const std::string& disturbance) {
  if (disturbance.empty())
    return {};
  return fail(ErrorCode::infrastructure, "not scored: the device was disturbed: " + disturbance,
              std::nullopt, "let it cool down, or leave it to this program alone, and go on");
}

Trial trial_of(const Contest& contest, const Race& race, const Trial& incumbent) {
  Trial trial;
  if (contest.fault && contest.fault->side == Side::candidate) {
    trial.outcome = outcome_of(contest.fault->fault.kind);
    trial.reason = contest.fault->fault.summary;
    return trial;
  }
  trial.shapes = times_beside(incumbent.shapes, contest);
  trial.time = race.time_of(trial.shapes, nullptr);
  if (!replaces_incumbent(contest.overall) && *trial.time < *incumbent.time) {
    trial.time = incumbent.time; // a tie, as far as anybody can tell
    trial.shapes = incumbent.shapes;
  }
  return trial;
}

// What racing would have made of it: the answer is the same whether the shapes were timed for this
// configuration or for another with the same code.
Trial KernelObjective::race(const Timed& timed, const Trial* incumbent) const {
  Trial trial;
  trial.counters = timed.counters;
  for (const ShapeTime& shape : timed.shapes) {
    trial.shapes.push_back(shape);
    if (race_.clearly_slower(trial.shapes, incumbent)) {
      trial.partial = true;
      break;
    }
  }
  trial.time = race_.time_of(trial.shapes, incumbent);
  return trial;
}

Result<Trial> KernelObjective::evaluate(const ParameterValues& values, const Trial* incumbent) {
  KERNEVO_TRY(prepared, prepare_kernel(device_, task_, kernel_, values));
  const std::string key =
      prepared.fault ? "" : instance_identity(task_, kernel_, values, prepared.build);
  if (!key.empty()) {
    const std::lock_guard lock(mutex_);
    if (const auto found = timed_.find(key); found != timed_.end()) {
      ++same_code_;
      return race(*found->second, incumbent);
    }
  }
  auto timed = std::make_shared<Timed>();
  BenchOptions options = bench_;
  options.whole = false;
  if (device_.capabilities().measures)
    options.seed = fresh_seed();
  options.go_on_timed = [&](const std::vector<CaseBench>& cases) {
    if (timed->shapes.empty())
      timed->counters = counters_of_case(cases.front());
    timed->shapes.push_back(shape_time(cases.back()));
    return !race_.clearly_slower(timed->shapes, incumbent);
  };
  const auto result = bench_prepared(device_, prepared, options);
  KERNEVO_TRY(failure, failed_trial(result));
  if (failure)
    return std::move(*failure);
  KERNEVO_CHECK(refuse_disturbed(disturbance_of(*result)));
  if (!result->stopped) {
    const std::lock_guard lock(mutex_);
    timed_.try_emplace(key, timed);
  }
  return race(*timed, incumbent);
}

Result<std::optional<std::string>> KernelObjective::check(const ParameterValues& values) {
  CheckOptions options;
  options.parameters = values;
  options.seed = check_seed_;
  options.seconds = bench_.seconds;
  options.memory_bytes = bench_.memory_bytes;
  options.patience_minutes = bench_.patience_minutes;
  KERNEVO_TRY(checked, check_kernel(device_, task_, kernel_, options));
  if (checked.verdict.correct)
    return std::optional<std::string>();
  const Verdict verdict = visible(std::move(checked.verdict), kernel_.source, audience_).verdict;
  return std::optional<std::string>(
      fmt::format("{}: {}", verdict.fault ? name_of(*verdict.fault) : "wrong", verdict.summary));
}

Result<std::optional<Trial>> KernelObjective::recount(const ParameterValues& values,
                                                      const Trial* incumbent) {
  // A device that measures has run every block.
  if (device_.capabilities().measures)
    return std::optional<Trial>();
  KERNEVO_TRY(prepared, prepare_kernel(device_, task_, kernel_, values));
  BenchOptions options = bench_;
  options.seed = fresh_seed();
  const auto result = bench_prepared(device_, prepared, options);
  KERNEVO_TRY(failure, failed_trial(result));
  if (failure)
    return failure;
  Trial trial = trial_of(*result);
  trial.time = race_.time_of(trial.shapes, incumbent);
  return std::optional(std::move(trial));
}

std::uint64_t KernelObjective::fresh_seed() const {
  return check_seed_ == 0 ? fresh_secret() : check_seed_;
}

Result<std::optional<Trial>> KernelObjective::contest(const ParameterValues& values,
                                                      const ParameterValues& incumbent,
                                                      const Trial& timed) {
  if (!device_.capabilities().measures)
    return std::optional<Trial>();
  KERNEVO_TRY(first, prepare_kernel(device_, task_, kernel_, incumbent));
  KERNEVO_TRY(second, prepare_kernel(device_, task_, kernel_, values));
  BenchOptions options = bench_;
  options.seed = derived_seed(fresh_seed(), "contest");
  KERNEVO_TRY(contest, hold_contest(device_, task_, first, second, options));
  // Once more before it is announced: the first time decides, the second says by how much.
  if (!contest.fault && replaces_incumbent(contest.overall)) {
    options.seed = derived_seed(options.seed, "again");
    KERNEVO_TRY(again, hold_contest(device_, task_, first, second, options, kBlocksToAnnounce));
    contest = std::move(again);
  }
  KERNEVO_CHECK(refuse_disturbed(contest.disturbed));
  if (contest.fault && contest.fault->side == Side::incumbent)
    return fail(ErrorCode::infrastructure,
                "the best so far failed when it was timed again: " + contest.fault->fault.summary,
                std::nullopt, "check it; the log names its parameters");
  return std::optional(trial_of(contest, race_, timed));
}

std::size_t KernelObjective::same_code() const {
  const std::lock_guard lock(mutex_);
  return same_code_;
}

} // namespace kernevo::tune
