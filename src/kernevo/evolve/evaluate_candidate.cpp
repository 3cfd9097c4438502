#include "kernevo/evolve/evaluate_candidate.h"

#include "kernevo/base/hash.h"
#include "kernevo/evaluate/instance_identity.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/evolve/identity.h"
#include "kernevo/evolve/instance_objective.h"
#include "kernevo/evolve/instance_profile.h"
#include "kernevo/search/search_space.h"
#include "kernevo/tune/tuner.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr double kHopeless = 3; // times the incumbent: hardly any tuning makes up for that
constexpr std::size_t kHopelessTries = 4;
constexpr double kBeyondRoofline = 1.05; // of it: more cannot be true

constexpr double kDoubt = 0.25; // times taken hours apart may differ by so much

// Faster by more than what counts as a tie.
bool shown_faster(const Contest& contest, double least_gain) {
  return contest.overall.ratio && replaces_incumbent(contest.overall) &&
         contest.overall.ratio->estimate * (1 - least_gain) > 1;
}

void take_beside(const RunContext& context, const Rival& rival, const Contest& contest,
                 Evaluation& e) {
  e.shapes = times_beside(rival.shapes, contest);
  std::vector<WeightedTime> times;
  for (const ShapeTime& shape : e.shapes)
    for (const ContestCase& one : contest.cases)
      if (one.case_id == shape.shape)
        times.push_back({shape.time, one.weight});
  if (!times.empty())
    e.objective = objective_time(context.task.objective, times);
  if (context.roofline && e.objective && e.objective->value > 0)
    e.roofline = context.roofline->value / e.objective->value;
}

class Climb {
public:
  Climb(const RunContext& context, store::Memo& memo, const EvaluationRequest& request)
      : context_(context), memo_(memo), request_(request) {
    result_.evaluation.step = request.step;
    result_.evaluation.candidate = request.candidate;
  }

  // False ends the climb; why is in the evaluation, or it was interrupted.
  Result<std::optional<EvaluationResult>> run() {
    KERNEVO_TRY(built, build());
    if (!built)
      return std::optional(std::move(result_));
    if (!request_.tune_only) {
      KERNEVO_TRY(right, small_shapes());
      if (!right)
        return std::optional(std::move(result_));
    }
    KERNEVO_TRY(timed, tune());
    if (interrupted_)
      return std::optional<EvaluationResult>();
    if (!timed)
      return std::optional(std::move(result_));
    KERNEVO_TRY(profiled, profile());
    if (profiled)
      KERNEVO_CHECK(confirm());
    return std::optional(std::move(result_));
  }

private:
  bool end(StepOutcome outcome, std::optional<FaultKind> fault, std::string summary) {
    Evaluation& e = result_.evaluation;
    e.outcome = outcome;
    e.fault = fault;
    e.summary = std::move(summary);
    if (fault)
      result_.diagnosis = Diagnosis{fault, Rung::parse, false, e.summary, {}};
    // What does not hold has no time.
    if (outcome != StepOutcome::quarantined) {
      e.objective.reset();
      e.shapes.clear();
      e.roofline.reset();
    }
    return false;
  }
  bool end(const InstanceObjective::Judgement& judgement, const std::string& where) {
    const FaultKind fault = judgement.fault.value_or(FaultKind::correctness_mismatch);
    const bool interface = fault == FaultKind::syntax_error ||
                           fault == FaultKind::semantic_compile_error ||
                           fault == FaultKind::interface_contract_error;
    end(interface                                  ? StepOutcome::compile_failed
        : fault == FaultKind::correctness_mismatch ? StepOutcome::wrong
        : fault == FaultKind::unproven             ? StepOutcome::unproven
                                                   : StepOutcome::failed,
        fault, where + judgement.summary);
    result_.diagnosis = judgement.diagnosis.value_or(diagnose(fault));
    return false;
  }

  // What timing showed: a device that measures compares what it times.
  bool end(const search::Trial& trial, const std::string& where) {
    const bool wrong = trial.outcome == search::Outcome::wrong;
    return end(wrong ? StepOutcome::wrong : StepOutcome::failed,
               wrong ? FaultKind::correctness_mismatch : FaultKind::candidate_runtime_error,
               where + trial.reason);
  }

  Result<bool> build() {
    auto kernel = parse_kernel_file(request_.source, fmt::format("step-{}.cu", request_.candidate));
    if (!kernel)
      return end(StepOutcome::compile_failed, FaultKind::interface_contract_error,
                 format_error(kernel.error()));
    kernel_ = std::move(*kernel);
    auto defaults = choose_parameters(kernel_);
    if (!defaults)
      return end(StepOutcome::compile_failed, FaultKind::interface_contract_error,
                 format_error(defaults.error()));
    defaults_ = std::move(*defaults);
    result_.evaluation.tunable = !kernel_.parameters.empty();
    objective_.emplace(context_, memo_, kernel_, request_.inputs, request_.patience_minutes);
    if (request_.tune_only)
      return true;
    KERNEVO_TRY(prepared, objective_->prepared(defaults_));
    const Build& built = prepared->build;
    if (prepared->fault && prepared->fault->rung == Rung::compile)
      return refused(*prepared->fault, built);
    if (prepared->fault)
      return end(StepOutcome::compile_failed, prepared->fault->kind, prepared->fault->summary);
    const std::string instance = instance_identity(context_.task, kernel_, defaults_, built);
    result_.evaluation.identity =
        instance.empty() ? std::string() : structure_identity(instance, kernel_);
    if (request_.known && !result_.evaluation.identity.empty()) {
      KERNEVO_TRY(twin, request_.known(result_.evaluation.identity));
      if (twin) {
        result_.evaluation.duplicate_of = twin;
        return end(StepOutcome::duplicate, std::nullopt,
                   fmt::format("compiles to the same kernel as step {}", *twin));
      }
    }
    return true;
  }

  bool refused(const PreparationFault& fault, const Build& build) {
    end(StepOutcome::compile_failed, fault.kind, fault.summary);
    result_.diagnosis = diagnose(build, request_.source);
    return false;
  }

  // What the virtual GPU cannot run is the candidate's loss, not the machine's trouble.
  bool is_unsupported(const Error& error) {
    if (error.code != ErrorCode::unsupported)
      return false;
    end(StepOutcome::failed, FaultKind::candidate_runtime_error, format_error(error));
    result_.diagnosis->summary = format_error(visible(error, Audience::proposer));
    return true;
  }

  Result<bool> small_shapes() {
    auto judgement = objective_->judge(defaults_, false);
    if (!judgement && is_unsupported(judgement.error()))
      return false;
    if (!judgement)
      return tl::unexpected<Error>(judgement.error());
    return judgement->right || end(*judgement, "");
  }

  Result<search::SearchSpace> space() const {
    std::vector<search::FixedNames> problems;
    for (const ShapeCase& shape : context_.task.shapes) {
      KERNEVO_TRY(problem, make_problem(context_.task, shape));
      problems.push_back(problem.dims);
    }
    return search::kernel_space(
        kernel_, std::move(problems),
        search::BlockLimits{context_.gpu.max_threads_per_block,
                            static_cast<std::int64_t>(context_.gpu.shared_per_block_optin.value)});
  }

  Result<bool> tune() {
    if (kernel_.parameters.empty())
      return single();
    auto points = space();
    if (!points)
      return end(StepOutcome::compile_failed, FaultKind::interface_contract_error,
                 format_error(points.error()));
    tune::TunerOptions options;
    options.search.seed = request_.seed + request_.candidate;
    if (const auto first = points->find(defaults_))
      options.search.seeds = {*first};
    // The same search goes on where it was: what it tried before is remembered.
    options.evaluations = request_.already + request_.evaluations;
    options.jobs = 1;
    options.ahead = 1;
    bool hopeless = false;
    options.observer = [&](tune::TuningEvent, const tune::TuningState& state) {
      hopeless = !request_.tune_only && state.told >= kHopelessTries && state.best != nullptr &&
                 request_.incumbent &&
                 state.best->time->value > kHopeless * request_.incumbent->value;
    };
    options.interrupted = [&] {
      interrupted_ = interrupted_ || (request_.interrupted && request_.interrupted());
      return interrupted_ || hopeless;
    };
    KERNEVO_TRY(tuned, tune::tune(*points, *objective_, nullptr, options));
    Evaluation& e = result_.evaluation;
    e.instances_timed = tuned.trials.size() - std::min(request_.already, tuned.trials.size());
    e.exhausted = tuned.trials.size() >= points->size();
    if (!tuned.best)
      return nothing_works(*points, tuned.trials);
    take(*tuned.best, points->values(tuned.best->configuration));
    return true;
  }

  // Ends the climb with the first reason that any parameters gave.
  Result<bool> nothing_works(const search::SearchSpace& points,
                             const std::vector<search::Trial>& trials) {
    const auto told = std::find_if(trials.begin(), trials.end(),
                                   [](const search::Trial& t) { return !t.reason.empty(); });
    if (told == trials.end())
      return end(StepOutcome::failed, FaultKind::candidate_runtime_error, "no parameters work");
    if (told->checked)
      end(StepOutcome::failed, FaultKind::candidate_runtime_error, told->reason);
    else
      end(*told, "");
    // The reason of a wrong one may name a hidden shape; its diagnosis does not.
    if (told->checked)
      result_.diagnosis = diagnose(FaultKind::candidate_runtime_error);
    KERNEVO_TRY(judgement, objective_->judge(points.values(told->configuration), false));
    if (!judgement.right && judgement.diagnosis)
      result_.diagnosis = judgement.diagnosis;
    return false;
  }

  Result<bool> single() {
    KERNEVO_TRY(trial, objective_->evaluate(defaults_, nullptr));
    result_.evaluation.instances_timed = 1;
    result_.evaluation.exhausted = true;
    if (trial.outcome != search::Outcome::ok)
      return end(trial, "");
    take(trial, defaults_);
    return true;
  }

  void take(const search::Trial& trial, const ParameterValues& values) {
    Evaluation& e = result_.evaluation;
    e.outcome = StepOutcome::not_better;
    e.objective = trial.time;
    e.parameters = values;
    e.shapes = trial.shapes;
    if (context_.roofline && e.objective->value > 0)
      e.roofline = context_.roofline->value / e.objective->value;
  }

  // Recalled where it is known: a resumed run must not run anything twice.
  Result<bool> profile() {
    const std::string key = objective_->key("profile", result_.evaluation.parameters);
    KERNEVO_TRY(known, memo_.recall(key));
    if (known) {
      KERNEVO_TRY(recalled, read_profile(*known));
      take_profile(std::move(recalled));
      return true;
    }
    KERNEVO_TRY(fresh, make_profile());
    if (!fresh)
      return false;
    KERNEVO_CHECK(memo_.remember(key, write_profile(*fresh)));
    take_profile(std::move(*fresh));
    return true;
  }

  void take_profile(ProfiledInstance profiled) {
    Evaluation& e = result_.evaluation;
    e.bottlenecks = std::move(profiled.bottleneck.findings);
    result_.profile = std::move(profiled.text);
    e.profile = sha256_hex(result_.profile);
    e.facts = std::move(profiled.facts);
  }

  // Nothing when it cannot be run after all; why is in the evaluation then.
  Result<std::optional<ProfiledInstance>> make_profile() {
    using Nothing = std::optional<ProfiledInstance>;
    auto bench = objective_->bench_of(result_.evaluation.parameters);
    if (!bench && is_unsupported(bench.error()))
      return Nothing();
    if (!bench)
      return tl::unexpected<Error>(bench.error());
    if (bench->fault) {
      end(StepOutcome::failed, *bench->fault, bench->summary);
      return Nothing();
    }
    const ParameterValues& values = result_.evaluation.parameters;
    KERNEVO_TRY(counters, objective_->counters_of(values));
    KERNEVO_TRY(profiled,
                profile_instance(context_, *bench, counters, objective_->measured(values)));
    return std::optional(std::move(profiled));
  }

  bool is_better() const {
    return !request_.incumbent || result_.evaluation.objective->value <
                                      request_.incumbent->value * (1 - request_.least_gain);
  }

  // So many instances are timed that the best is also the one that looked best by chance: its time
  // is found again.
  Result<bool> recount() {
    const auto trial = objective_->count_again(result_.evaluation.parameters);
    if (!trial && is_unsupported(trial.error()))
      return false;
    if (!trial)
      return tl::unexpected<Error>(trial.error());
    if (trial->outcome != search::Outcome::ok)
      return end(*trial, "not confirmed: ");
    take(*trial, ParameterValues(result_.evaluation.parameters));
    return true;
  }

  // Of measured times: in turns with the best, and once more before it is announced.
  Result<void> confirm_measured() {
    Evaluation& e = result_.evaluation;
    const Rival& rival = *request_.rival;
    if (e.objective->value >= rival.objective.value * (1 + kDoubt))
      return {};
    KERNEVO_TRY(first, objective_->contest_with(rival, e.parameters, "first"));
    if (!take(first.contest) || !is_faster(first.contest))
      return {};
    if (!is_possible())
      return {};
    KERNEVO_TRY(right, is_right_everywhere());
    if (!right)
      return {};
    KERNEVO_TRY(again, objective_->contest_with(rival, e.parameters, kAnnounced));
    if (take(again.contest) && is_faster(again.contest)) {
      e.outcome = StepOutcome::improved;
      e.contest = again.key;
    }
    return {};
  }

  // The times on the rival's scale; false when one of the two failed.
  bool take(const Contest& contest) {
    Evaluation& e = result_.evaluation;
    if (contest.fault && contest.fault->side == Side::candidate)
      return end(contest.fault->fault.kind == FaultKind::correctness_mismatch ? StepOutcome::wrong
                                                                              : StepOutcome::failed,
                 contest.fault->fault.kind, "not confirmed: " + contest.fault->fault.summary);
    if (contest.fault) {
      e.summary = "the best so far failed beside it: " + contest.fault->fault.summary;
      return false;
    }
    take_beside(context_, *request_.rival, contest, e);
    return true;
  }

  bool is_faster(const Contest& contest) const {
    return shown_faster(contest, request_.least_gain);
  }

  bool is_beyond_roofline() const {
    return context_.least &&
           context_.least->value > kBeyondRoofline * result_.evaluation.objective->value;
  }

  bool is_possible() {
    return !is_beyond_roofline() || end(StepOutcome::quarantined, std::nullopt,
                                        beyond_text(result_.evaluation.objective->value));
  }

  // Whoever would be announced must be right everywhere, and possible.
  Result<void> confirm() {
    Evaluation& e = result_.evaluation;
    if (request_.rival && context_.device->capabilities().measures)
      return confirm_measured();
    if (!is_better())
      return {};
    // The check runs what counting again would have to run. What is too fast to be true is counted
    // first: it may only have seemed so.
    const bool is_doubtful = is_beyond_roofline();
    if (is_doubtful) {
      KERNEVO_TRY(stands, is_better_again());
      if (!stands)
        return {};
    }
    KERNEVO_TRY(right, is_right_everywhere());
    if (!right)
      return {};
    if (!is_doubtful) {
      KERNEVO_TRY(stands, is_better_again());
      if (!stands)
        return {};
    }
    e.outcome = StepOutcome::improved;
    return {};
  }

  Result<bool> is_better_again() {
    KERNEVO_TRY(counted, recount());
    return counted && is_better() && is_possible();
  }

  // Why not is in the evaluation.
  Result<bool> is_right_everywhere() {
    const auto judgement = objective_->judge(result_.evaluation.parameters, true);
    if (!judgement && is_unsupported(judgement.error()))
      return false;
    if (!judgement)
      return tl::unexpected<Error>(judgement.error());
    return judgement->right ||
           end(*judgement, judgement->fault == FaultKind::unproven ? "" : "not confirmed: ");
  }

  std::string beyond_text(double objective) const {
    const double share = 100 * context_.least->value / objective;
    if (!context_.estimate)
      return fmt::format("{:.0f} % of what the roofline allows: a bug or a cheat", share);
    return fmt::format(
        "{:.0f} % of what moving the bytes it must move allows ({}): a bug, a cheat, "
        "or the task's 'work: {{bytes}}' has to say better",
        share, kFromReference);
  }

  const RunContext& context_;
  store::Memo& memo_;
  const EvaluationRequest& request_;
  EvaluationResult result_;
  KernelFile kernel_;
  ParameterValues defaults_;
  std::optional<InstanceObjective> objective_;
  bool interrupted_ = false;
};

} // namespace

Result<std::optional<EvaluationResult>>
evaluate_candidate(const RunContext& context, store::Memo& memo, const EvaluationRequest& request) {
  return Climb(context, memo, request).run();
}

Result<Evaluation> contest_again(const RunContext& context, store::Memo& memo,
                                 const EvaluationRequest& request, Evaluation evaluation) {
  KERNEVO_TRY(kernel,
              parse_kernel_file(request.source, fmt::format("step-{}.cu", request.candidate)));
  InstanceObjective objective(context, memo, kernel, request.inputs, request.patience_minutes);
  evaluation.outcome = StepOutcome::not_better;
  for (const std::string_view purpose : {std::string_view("first"), kAnnounced}) {
    KERNEVO_TRY(held, objective.contest_with(*request.rival, evaluation.parameters, purpose));
    if (held.contest.fault) {
      evaluation.summary = held.contest.fault->fault.summary;
      if (held.contest.fault->side == Side::candidate) {
        evaluation.outcome = StepOutcome::failed;
        evaluation.fault = held.contest.fault->fault.kind;
        evaluation.objective.reset();
        evaluation.shapes.clear();
        evaluation.roofline.reset();
      }
      return evaluation;
    }
    take_beside(context, *request.rival, held.contest, evaluation);
    if (!shown_faster(held.contest, request.least_gain))
      return evaluation;
    evaluation.contest = held.key;
  }
  evaluation.outcome = StepOutcome::improved;
  return evaluation;
}

} // namespace kernevo::evolve
