#include "kernevo/evolve/instance_objective.h"

#include "kernevo/base/hash.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/count_hardware.h"
#include "kernevo/evaluate/instance_identity.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/evolve/identity.h"
#include "kernevo/model/json.h"
#include "kernevo/model/timing_fields.h"
#include "kernevo/tune/kernel_objective.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kernevo::evolve {
namespace {

using search::Outcome;
using search::Trial;

// Defaults, the incumbent of a search and the one under trial.
constexpr std::size_t kPreparedKept = 3;
// Of a shape of an instance that a device measures; the journal keeps them.
constexpr std::uint64_t kMostSamples = 1000;

std::string trial_to_json(const Trial& trial) {
  Json json{{"outcome", name_of(trial.outcome)},
            {"reason", trial.reason},
            {"counters", trial.counters},
            {"shapes", shape_times_to_json(trial.shapes)}};
  return dump_json(json);
}

Result<Trial> trial_from_json(std::string_view text) {
  return read_json(text, "remembered instance", [](const Json& json) {
    Trial trial;
    trial.outcome =
        search::outcome_named(json.at("outcome").get<std::string>()).value_or(Outcome::failed);
    trial.reason = json.at("reason");
    trial.counters = json.at("counters").get<std::map<std::string, double>>();
    trial.shapes = shape_times_of(json.at("shapes"));
    return trial;
  });
}

} // namespace

InstanceObjective::InstanceObjective(const RunContext& context, store::Memo& memo,
                                     const KernelFile& kernel, std::uint64_t seed,
                                     double patience_minutes)
    : context_(context), memo_(memo), kernel_(kernel), source_hash_(sha256_hex(kernel.source)),
      patience_minutes_(patience_minutes), seed_(seed), race_(context.task) {}

std::string InstanceObjective::key(std::string_view what, const ParameterValues& values) const {
  std::string text = fmt::format("{} {} {}", context_.identity, source_hash_, seed_);
  for (const auto& [name, value] : values)
    text += fmt::format(" {}={}", name, value);
  return fmt::format("{}/{}", what, sha256_hex(text));
}

Result<std::shared_ptr<const PreparedKernel>>
InstanceObjective::prepared(const ParameterValues& values) {
  const auto found = std::find_if(prepared_.begin(), prepared_.end(),
                                  [&](const auto& known) { return known->parameters == values; });
  if (found != prepared_.end())
    return *found;
  KERNEVO_TRY(fresh, prepare_kernel(*context_.device, context_.task, kernel_, values));
  prepared_.push_front(std::make_shared<const PreparedKernel>(std::move(fresh)));
  if (prepared_.size() > kPreparedKept)
    prepared_.pop_back();
  return prepared_.front();
}

BenchOptions InstanceObjective::bench_options() const {
  BenchOptions options;
  options.seed = seed_ + 1;
  options.whole = false;
  options.patience_minutes = patience_minutes_;
  options.hot_cache = context_.hot_cache;
  options.measure.max_samples = kMostSamples;
  return options;
}

// Every shot, for whoever doubts a time.
Result<void> InstanceObjective::keep_samples(const ParameterValues& values,
                                             const BenchResult& bench) {
  Json list = Json::array();
  for (const CaseBench& one : bench.cases)
    list.push_back({{"case", one.case_id}, {"timing", Json::parse(to_json(one.timing))}});
  return memo_.remember(key("samples", values), dump_json(list));
}

// Times every shape: what is remembered must not depend on who was the incumbent.
Result<Trial> InstanceObjective::run(const ParameterValues& values, std::string& identity) {
  KERNEVO_TRY(kernel, prepared(values));
  if (!kernel->fault)
    identity = instance_identity(context_.task, kernel_, values, kernel->build);
  if (!identity.empty()) {
    KERNEVO_TRY(known,
                memo_.recall(fmt::format("code/{}{}", identity, context_.identity.substr(0, 16))));
    if (known)
      return trial_from_json(*known);
  }
  auto result = bench_prepared(*context_.device, *kernel, bench_options());
  KERNEVO_TRY(failure, tune::failed_trial(result));
  if (failure) {
    if (result && result->out_of_time)
      failure->outcome = Outcome::timeout;
    return std::move(*failure);
  }
  KERNEVO_CHECK(tune::refuse_disturbed(disturbance_of(*result)));
  Trial trial = tune::trial_of(*result);
  if (has_samples(result->device.method))
    KERNEVO_CHECK(keep_samples(values, *result));
  if (!fastest_ || *result->objective < *fastest_->objective)
    fastest_ = std::move(*result);
  return trial;
}

Result<Trial> InstanceObjective::evaluate(const ParameterValues& values, const Trial* incumbent) {
  const std::string name = key("instance", values);
  KERNEVO_TRY(known, memo_.recall(name));
  Trial trial;
  if (known) {
    KERNEVO_TRY(remembered, trial_from_json(*known));
    trial = std::move(remembered);
  } else {
    std::string identity;
    KERNEVO_TRY(fresh, run(values, identity));
    trial = std::move(fresh);
    const std::string body = trial_to_json(trial);
    const bool lasting = trial.outcome != Outcome::timeout;
    if (lasting && !identity.empty())
      KERNEVO_CHECK(memo_.remember(
          fmt::format("code/{}{}", identity, context_.identity.substr(0, 16)), body));
    if (lasting)
      KERNEVO_CHECK(memo_.remember(name, body));
  }
  if (trial.outcome == Outcome::ok)
    trial.time = race_.time_of(trial.shapes, incumbent);
  return trial;
}

Result<Trial> InstanceObjective::count_again(const ParameterValues& values) {
  if (context_.device->capabilities().measures)
    return evaluate(values, nullptr);
  const std::string name = key(fmt::format("recount-{}", patience_minutes_), values);
  KERNEVO_TRY(known, memo_.recall(name));
  Trial trial;
  if (known) {
    KERNEVO_TRY(remembered, trial_from_json(*known));
    trial = std::move(remembered);
  } else {
    KERNEVO_TRY(kernel, prepared(values));
    BenchOptions options = bench_options();
    options.whole = true;
    options.seed = derived_seed(seed_, "recount");
    options.check_seed = check_seed(values, true);
    if (tallied_ && tallied_->first == values)
      options.tallies = &tallied_->second;
    const auto result = bench_prepared(*context_.device, *kernel, options);
    KERNEVO_TRY(failure, tune::failed_trial(result));
    trial = failure ? std::move(*failure) : tune::trial_of(*result);
    if (!result || !result->out_of_time)
      KERNEVO_CHECK(memo_.remember(name, trial_to_json(trial)));
  }
  if (trial.outcome == Outcome::ok)
    trial.time = race_.time_of(trial.shapes, nullptr);
  return trial;
}

Result<std::optional<Trial>> InstanceObjective::contest(const ParameterValues& values,
                                                        const ParameterValues& incumbent,
                                                        const Trial& timed) {
  if (!context_.device->capabilities().measures)
    return std::optional<Trial>();
  KERNEVO_TRY(held, contest_with({kernel_.source, incumbent, timed.shapes, *timed.time}, values,
                                 "instance"));
  if (held.contest.fault && held.contest.fault->side == Side::incumbent)
    return std::optional<Trial>(); // it stands as it was timed alone; a whole check finds it out
  return std::optional(tune::trial_of(held.contest, race_, timed));
}

Result<InstanceObjective::Held> InstanceObjective::contest_with(const Rival& rival,
                                                                const ParameterValues& values,
                                                                std::string_view purpose) {
  std::string other = sha256_hex(rival.source);
  for (const auto& [name, value] : rival.parameters)
    other += fmt::format(" {}={}", name, value);
  Held held;
  held.key = key(fmt::format("contest-{}-{}", purpose, sha256_hex(other).substr(0, 16)), values);
  KERNEVO_TRY(known, memo_.recall(held.key));
  if (known) {
    KERNEVO_TRY(contest, contest_from_json(*known, context_.task.objective));
    held.contest = std::move(contest);
    return held;
  }
  KERNEVO_TRY(file, parse_kernel_file(rival.source, "incumbent.cu"));
  KERNEVO_TRY(first, prepare_kernel(*context_.device, context_.task, file, rival.parameters));
  KERNEVO_TRY(second, prepared(values));
  BenchOptions options = bench_options();
  options.seed = derived_seed(seed_, held.key);
  KERNEVO_TRY(contest, hold_contest(*context_.device, context_.task, first, *second, options,
                                    purpose == kAnnounced ? kBlocksToAnnounce : kBlocksToDecide));
  KERNEVO_CHECK(tune::refuse_disturbed(contest.disturbed));
  KERNEVO_CHECK(memo_.remember(held.key, to_json(contest)));
  held.contest = std::move(contest);
  return held;
}

std::string InstanceObjective::check_key(const ParameterValues& values, bool whole) const {
  return key(whole ? fmt::format("check-{}", patience_minutes_) : "small-check", values);
}

std::uint64_t InstanceObjective::check_seed(const ParameterValues& values, bool whole) const {
  return derived_seed(seed_, check_key(values, whole));
}

Result<InstanceObjective::Judgement> InstanceObjective::judge(const ParameterValues& values,
                                                              bool whole) {
  const std::string name = check_key(values, whole);
  KERNEVO_TRY(known, memo_.recall(name));
  if (known)
    return read_json(*known, "remembered check", [](const Json& json) {
      Judgement judgement{json.at("right"), std::nullopt, json.at("summary"), std::nullopt};
      if (const auto fault = get_optional<std::uint32_t>(json, "fault")) {
        if (*fault > static_cast<std::uint32_t>(FaultKind::unproven))
          refuse("unknown fault");
        judgement.fault = static_cast<FaultKind>(*fault);
      }
      if (json.contains("diagnosis"))
        if (auto diagnosis = diagnosis_from_json(json.at("diagnosis").dump()))
          judgement.diagnosis = std::move(*diagnosis);
      return judgement;
    });
  KERNEVO_TRY(kernel, prepared(values));
  CheckOptions options;
  options.small_only = !whole;
  options.fresh_process = whole;
  options.patience_minutes = patience_minutes_;
  // Of this instance and this check alone: inputs and shapes that confirm a best are none that the
  // search has seen, and what one candidate was judged on tells nothing of the next.
  options.seed = check_seed(values, whole);
  if (whole) {
    tallied_.emplace(values, WholeTallies());
    options.tallies = &tallied_->second;
  }
  KERNEVO_TRY(checked, check_prepared(*context_.device, *kernel, options));
  Judgement judgement{checked.verdict.correct, checked.verdict.fault, checked.verdict.summary,
                      std::nullopt};
  if (!judgement.right)
    judgement.diagnosis = diagnose(checked.verdict, kernel_.source);
  Json json{{"right", judgement.right}, {"summary", judgement.summary}};
  if (judgement.diagnosis)
    json["diagnosis"] = Json::parse(to_json(*judgement.diagnosis));
  if (judgement.fault)
    json["fault"] = static_cast<int>(*judgement.fault);
  // What the machine may be to blame for is found out anew the next time.
  const auto& finding = checked.verdict.finding;
  if (!finding || (finding->kind != FindingKind::time_limit && finding->kind != FindingKind::crash))
    KERNEVO_CHECK(memo_.remember(name, dump_json(json)));
  return judgement;
}

Result<std::optional<std::string>> InstanceObjective::check(const ParameterValues& values) {
  const auto judgement = judge(values, false);
  // What the virtual GPU cannot run stops one configuration, not the others.
  if (!judgement && judgement.error().code == ErrorCode::unsupported)
    return std::optional(format_error(judgement.error()));
  if (!judgement)
    return tl::unexpected<Error>(judgement.error());
  if (judgement->right)
    return std::optional<std::string>();
  return std::optional(fmt::format(
      "{}: {}", judgement->fault ? name_of(*judgement->fault) : "wrong", judgement->summary));
}

Result<BenchResult> InstanceObjective::bench_of(const ParameterValues& values) {
  if (const auto& companion = context_.device->companion();
      companion && !context_.device->capabilities().instrumented) {
    KERNEVO_TRY(there, prepare_kernel(*companion->device, context_.task, kernel_, values));
    return bench_prepared(*companion->device, there, bench_options());
  }
  if (fastest_ && fastest_->parameters == values)
    return *std::exchange(fastest_, std::nullopt);
  KERNEVO_TRY(kernel, prepared(values));
  return bench_prepared(*context_.device, *kernel, bench_options());
}

Result<std::optional<HardwareCounters>>
InstanceObjective::counters_of(const ParameterValues& values) {
  if (!context_.device->capabilities().has_counters)
    return std::optional<HardwareCounters>();
  const std::string name = key("counters", values);
  KERNEVO_TRY(known, memo_.recall(name));
  if (known) {
    KERNEVO_TRY(remembered, hardware_counters_from_json(*known));
    return std::optional(std::move(remembered));
  }
  KERNEVO_TRY(kernel, prepared(values));
  KERNEVO_TRY(counters,
              count_hardware(*context_.device, *kernel, context_.counter_map, bench_options()));
  if (counters)
    KERNEVO_CHECK(memo_.remember(name, to_json(*counters)));
  return std::move(counters);
}

const BenchResult* InstanceObjective::measured(const ParameterValues& values) const {
  return fastest_ && context_.device->capabilities().measures && fastest_->parameters == values
             ? &*fastest_
             : nullptr;
}

} // namespace kernevo::evolve
