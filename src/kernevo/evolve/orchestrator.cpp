#include "kernevo/evolve/orchestrator.h"

#include "kernevo/base/hash.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/evolve/run_desk.h"
#include "kernevo/evolve/run_ledger.h"
#include "kernevo/evolve/run_memo.h"
#include "kernevo/evolve/steps_under_way.h"
#include "kernevo/evolve/stops.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <set>

namespace kernevo::evolve {
namespace {

constexpr unsigned kWaiting = 16; // threads that wait for models; more are not asked at once

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Orchestrator {
public:
  Orchestrator(const RunContext& context, store::Journal& journal, Panel& panel,
               const OrchestratorOptions& options)
      : context_(context), journal_(journal), panel_(panel), options_(options),
        memo_(journal, options.shared), desk_(journal, cancelled_), start_(Clock::now()),
        ledger_(journal, [this](const RunEvent& event) { notify(&event); }), slots_(options.jobs),
        // Whoever waits for a model holds a thread, but no slot of the evaluations.
        under_way_({context, memo_, slots_},
                   options.jobs + static_cast<unsigned>(panel.all_immediate() ? 0 : kWaiting)) {}

  ~Orchestrator() { cancelled_ = true; }
  Orchestrator(const Orchestrator&) = delete;
  Orchestrator& operator=(const Orchestrator&) = delete;

  Result<RunState> begin(const RunStarted& started) {
    KERNEVO_CHECK(ledger_.record(started, {context_.task_text}));
    KERNEVO_CHECK(ledger_.record_calls(options_.calls_before));
    return go_on();
  }

  // Goes on until a kernel from outside is wanted or the run is over, as if it had never paused.
  Result<RunState> go_on_quietly() {
    KERNEVO_CHECK(ledger_.load());
    if (state().stopped && !can_go_on(state()))
      return ledger_.take_state();
    return go_on();
  }

  // A kernel from outside for a step that waits for one.
  Result<Told> tell_from_outside(Step step, const propose::Proposal& proposal) {
    KERNEVO_CHECK(ledger_.load());
    KERNEVO_TRY(proposer, find_outside(step));
    const Directive directive = state().pending.at(step);
    const std::size_t spent = ledger_.timed_for_attempts(step);
    KERNEVO_TRY(result, evaluate_from_outside(directive, proposal, spent));
    Told told;
    told.diagnosis = result.evaluated.diagnosis;
    const std::size_t before = ledger_.attempts_of(step);
    if (can_be_mended(result.evaluated) && before < proposer->repairs()) {
      KERNEVO_CHECK(ledger_.record(attempt_of(step, static_cast<std::uint32_t>(before), proposal,
                                              *result.evaluated.diagnosis,
                                              result.evaluated.evaluation.instances_timed),
                                   {proposal.source}));
      told.evaluation = result.evaluated.evaluation;
      told.repairs_left = static_cast<std::uint32_t>(proposer->repairs() - before - 1);
      told.open = true;
    } else {
      Candidate candidate = candidate_of(directive, proposal);
      if (const Member* parent = state().find(directive.parent.value_or(0)))
        candidate.genes = parent->candidate.genes;
      candidate.genes.push_back(fmt::format("{}:{}", directive.proposer, directive.direction));
      result.candidate = std::move(candidate);
      result.source = proposal.source;
      result.evaluated.evaluation.instances_timed += spent;
      KERNEVO_CHECK(tell(step, std::move(result)));
      KERNEVO_TRY(evaluation, journal_.evaluation(step));
      told.evaluation = evaluation.value_or(Evaluation{});
    }
    told.evaluation = visible(std::move(told.evaluation), Audience::proposer);
    KERNEVO_CHECK(ledger_.put_snapshot());
    told.state = ledger_.take_state();
    return told;
  }

  Result<RunState> resume() {
    KERNEVO_CHECK(ledger_.load());
    const RunBudget budget = options_.budget.value_or(state().started.settings.budget);
    if (!can_go_on(state()) && budget == state().started.settings.budget)
      return ledger_.take_state();
    KERNEVO_CHECK(ledger_.record(RunResumed{state().next_step, budget}));
    KERNEVO_CHECK(ledger_.record_calls(options_.calls_before));
    return go_on();
  }

private:
  const RunState& state() const { return ledger_.state(); }

  Result<RunState> go_on() {
    open_books();
    KERNEVO_CHECK(baseline());
    for (const auto& [step, directive] : std::map(state().pending))
      if (!under_way_.contains(step))
        KERNEVO_CHECK(launch(directive));
    while (state().baseline && !stop_wanted()) {
      if (waits_for_outside()) {
        if (under_way_.empty())
          break;
        KERNEVO_CHECK(tell_oldest());
        continue;
      }
      if (under_way_.size() >= state().started.settings.ahead) {
        KERNEVO_CHECK(tell_oldest());
        continue;
      }
      KERNEVO_TRY(decision, decide(state(), panel_.view(state())));
      KERNEVO_CHECK(carry_out(decision));
    }
    KERNEVO_CHECK(finish());
    return ledger_.take_state();
  }

  // What the journal knows of models' calls, so that none is paid or counted twice.
  void open_books() {
    std::set<std::pair<Step, std::string>> booked;
    for (const auto& [step, calls] : state().pending_calls)
      for (const auto& [id, call] : calls)
        booked.insert({step, id});
    RunDesk::Spent spent;
    for (const auto& [stage, spending] : state().by_stage)
      spent.usage += spending.usage;
    spent.dollars = state().dollars_known;
    desk_.begin(state().started.settings.budget, spent, std::move(booked));
  }

  // A step whose kernel somebody outside writes.
  bool waits_for_outside() {
    for (const auto& [step, directive] : state().pending)
      if (const propose::Proposer* proposer = panel_.find(directive.proposer);
          proposer != nullptr && proposer->outside())
        return true;
    return false;
  }

  void notify(const RunEvent* event) const {
    if (options_.observer)
      options_.observer(event, {&state(), seconds_since(start_), stopping_});
  }

  // --- kernels from outside

  Result<propose::Proposer*> find_outside(Step step) {
    const auto found = state().pending.find(step);
    if (found == state().pending.end())
      return fail(ErrorCode::usage, fmt::format("step {} waits for no kernel", step), std::nullopt,
                  "'kernevo ask' says which one does");
    propose::Proposer* proposer = panel_.find(found->second.proposer);
    if (proposer == nullptr || !proposer->outside())
      return fail(ErrorCode::usage, fmt::format("step {} is not yours to answer", step),
                  std::nullopt, "'kernevo ask' says which one is");
    return proposer;
  }

  // `spent` instances were timed for earlier kernels of the step.
  Result<StepResult> evaluate_from_outside(const Directive& directive,
                                           const propose::Proposal& proposal, std::size_t spent) {
    KERNEVO_TRY(request, evaluation_of(directive));
    request.source = proposal.source;
    request.interrupted = [this] { return interrupted(); };
    request.evaluations =
        std::max<std::size_t>(1, request.evaluations - std::min(spent, request.evaluations));
    auto result = work_on_step({context_, memo_, slots_}, std::move(request), nullptr, {});
    if (!result)
      return fail(ErrorCode::infrastructure, "interrupted; nothing was recorded", std::nullopt,
                  "tell it again");
    if (result->evaluated.evaluation.outcome == StepOutcome::infrastructure)
      return fail(ErrorCode::infrastructure,
                  result->trouble ? format_error(visible(*result->trouble, Audience::proposer))
                                  : "trouble of the machine",
                  std::nullopt, "nothing was recorded; tell it again");
    return std::move(*result);
  }

  // --- the baseline is measured, never believed

  Result<void> baseline() {
    if (state().baseline)
      return {};
    if (!state().pending.contains(0)) {
      Directive directive;
      directive.gate = "baseline";
      directive.reason = "the reference is measured first, on the same device";
      directive.evaluations = 1;
      KERNEVO_CHECK(ledger_.record(directive));
    }
    if (!state().pending_candidates.contains(0)) {
      Candidate reference;
      reference.source = sha256_hex(context_.reference_source);
      reference.proposer = "reference";
      reference.title = "The reference.";
      KERNEVO_CHECK(ledger_.record(reference, {context_.reference_source}));
    }
    KERNEVO_CHECK(launch(state().pending.at(0)));
    while (!state().baseline && !stop_wanted())
      KERNEVO_CHECK(tell_oldest());
    return {};
  }

  // --- from a decision to a step under way

  Result<void> carry_out(const Decision& decision) {
    if (const auto* directive = std::get_if<Directive>(&decision)) {
      KERNEVO_CHECK(ledger_.record(*directive));
      return launch(*directive);
    }
    if (const auto* restarted = std::get_if<Restarted>(&decision))
      return ledger_.record(*restarted);
    if (const auto* migrated = std::get_if<Migrated>(&decision))
      return ledger_.record(*migrated);
    if (const auto* stopped = std::get_if<RunStopped>(&decision)) {
      stop_ = *stopped;
      return {};
    }
    return tell_oldest();
  }

  // The best of that time, as it was announced: it may have been replaced since.
  Result<std::optional<Rival>> rival_at(Nanoseconds objective) {
    const auto found =
        std::find_if(state().bests.rbegin(), state().bests.rend(),
                     [&](const BestPoint& best) { return best.objective == objective; });
    if (found == state().bests.rend())
      return std::optional<Rival>();
    KERNEVO_TRY(evaluation, journal_.evaluation(found->step));
    KERNEVO_TRY(candidate, journal_.candidate(found->candidate));
    if (!evaluation || !candidate)
      return fail(ErrorCode::input,
                  fmt::format("what made step {} the best is missing", found->step),
                  Place{journal_.location()},
                  fmt::format("'kernevo runs --repair {}'", journal_.location()));
    KERNEVO_TRY(source, journal_.blob(candidate->source));
    return std::optional(
        Rival{std::move(source), evaluation->parameters, evaluation->shapes, objective});
  }

  bool measures() const { return context_.device->capabilities().measures; }

  Result<EvaluationRequest> evaluation_of(const Directive& directive) {
    EvaluationRequest request;
    if (directive.incumbent_ns && measures()) {
      KERNEVO_TRY(rival, rival_at(Nanoseconds{*directive.incumbent_ns}));
      request.rival = std::move(rival);
    }
    request.step = directive.step;
    request.candidate = directive.step;
    request.evaluations = directive.evaluations;
    request.least_gain = state().started.settings.least_gain;
    request.patience_minutes = state().started.settings.patience_minutes;
    request.seed = state().started.settings.seed;
    request.inputs = state().started.settings.inputs;
    request.interrupted = [this] { return cancelled_.load(); };
    if (directive.incumbent_ns)
      request.incumbent = Nanoseconds{*directive.incumbent_ns};
    request.known = [this, frontier = directive.frontier](const std::string& identity) {
      return journal_.find_identity(identity, frontier);
    };
    return request;
  }

  Result<void> launch(const Directive& directive) {
    KERNEVO_TRY(request, evaluation_of(directive));
    if (directive.mode == SearchMode::tune) {
      const Member* member = state().find(*directive.parent);
      request.candidate = *directive.parent;
      request.tune_only = true;
      request.already = member->tuned;
      KERNEVO_TRY(source, journal_.blob(member->candidate.source));
      request.source = std::move(source);
      under_way_.submit(request, nullptr, {});
      return {};
    }
    if (const auto found = state().pending_candidates.find(directive.step);
        found != state().pending_candidates.end()) {
      KERNEVO_TRY(source, journal_.blob(found->second.source));
      request.source = std::move(source);
      under_way_.submit(request, nullptr, {});
      return {};
    }
    return launch_proposal(directive, std::move(request));
  }

  Result<void> launch_proposal(const Directive& directive, EvaluationRequest request) {
    propose::Proposer* proposer = panel_.find(directive.proposer);
    if (proposer == nullptr)
      return fail(ErrorCode::usage,
                  fmt::format("the run has a proposer '{}' that is not here", directive.proposer),
                  std::nullopt, "resume it with the same --proposer");
    if (proposer->outside())
      return {};
    KERNEVO_TRY(asked, panel_.request(state(), directive));
    if (!proposer->immediate()) {
      asked.desk = &desk_;
      under_way_.submit(request, proposer, std::move(asked));
      return {};
    }
    const auto answer = proposer->propose(asked);
    if (!answer || !*answer) {
      under_way_.add_done(directive.step, answer ? nothing_proposed(directive.step)
                                                 : trouble(directive.step, answer.error()));
      return {};
    }
    const propose::Proposal& proposal = **answer;
    KERNEVO_CHECK(ledger_.record(candidate_of(directive, proposal), {proposal.source}));
    request.source = proposal.source;
    under_way_.submit(request, nullptr, {});
    return {};
  }

  // --- telling

  Result<void> tell_oldest() {
    auto done = under_way_.take_oldest([this] {
      notify(nullptr);
      return !interrupted();
    });
    if (!done || !done->result)
      return {}; // interrupted: the loop sees it, too
    const Step step = done->step;
    StepResult& result = *done->result;
    KERNEVO_CHECK(ledger_.record_calls(desk_.take(step)));
    if (result.halt) {
      stop_ = stopped_by_refusal(state(), desk_.refusal(), *result.halt);
      return {};
    }
    if (result.candidate)
      result.candidate->cost = ledger_.cost_of(step);
    else if (result.attempts.empty()) // the candidate was told before a crash
      result.evaluated.evaluation.instances_timed += ledger_.timed_for_attempts(step);
    return tell(step, std::move(result));
  }

  // Why a step came to nothing, for our audience.
  std::string why_not(const Evaluation& evaluation, const StepResult& result) const {
    const std::string summary = visible(evaluation, options_.audience).summary;
    if (!summary.empty())
      return summary;
    if (result.trouble)
      return format_error(visible(*result.trouble, options_.audience));
    const auto& diagnosis = result.evaluated.diagnosis;
    return diagnosis ? diagnosis->summary : std::string(name_of(evaluation.outcome));
  }

  // Another may have become the best since a step was decided: what was faster than the one before
  // must be faster than that one, too, in turns with it.
  Result<Evaluation> beside_the_best(Evaluation evaluation) {
    const Member* best = state().best();
    const auto directive = state().pending.find(evaluation.step);
    if (!measures() || evaluation.outcome != StepOutcome::improved || best == nullptr ||
        directive == state().pending.end() ||
        directive->second.incumbent_ns == std::optional(best->objective.value))
      return evaluation;
    KERNEVO_TRY(request, evaluation_of(directive->second));
    KERNEVO_TRY(rival, rival_at(best->objective));
    const auto candidate = evaluation.candidate == evaluation.step
                               ? state().pending_candidates.find(evaluation.step)
                               : state().pending_candidates.end();
    const Member* member = state().find(evaluation.candidate);
    if (!rival || (candidate == state().pending_candidates.end() && member == nullptr))
      return evaluation;
    const std::string hash = candidate == state().pending_candidates.end()
                                 ? member->candidate.source
                                 : candidate->second.source;
    KERNEVO_TRY(source, journal_.blob(hash));
    request.candidate = evaluation.candidate;
    request.source = std::move(source);
    request.rival = std::move(rival);
    return contest_again(context_, memo_, request, std::move(evaluation));
  }

  // All that came of a step, as events.
  Result<void> tell(Step step, StepResult result) {
    KERNEVO_CHECK(ledger_.record_attempts(result.attempts, result.attempt_sources));
    if (result.candidate)
      KERNEVO_CHECK(ledger_.record(*result.candidate, {result.source}));
    Evaluation evaluation = std::move(result.evaluated.evaluation);
    if (step == 0) {
      if (evaluation.outcome != StepOutcome::improved)
        return fail(evaluation.outcome == StepOutcome::infrastructure ? ErrorCode::infrastructure
                                                                      : ErrorCode::input,
                    "the reference kernel cannot be the baseline: " + why_not(evaluation, result),
                    Place{context_.task.file}, "mend it; 'kernevo check' says more");
      evaluation.outcome = StepOutcome::baseline;
    } else {
      std::optional<Step> twin;
      if (!evaluation.identity.empty()) {
        KERNEVO_TRY(found, journal_.find_identity(evaluation.identity, step));
        twin = found;
      }
      auto beside = beside_the_best(evaluation);
      if (!beside && beside.error().code == ErrorCode::unavailable) {
        stop_ = stopped_by_refusal(state(), std::nullopt, beside.error());
        return {}; // the step stays open
      }
      if (!beside)
        beside = trouble(step, beside.error()).evaluated.evaluation;
      evaluation = settle(state(), std::move(*beside), twin);
    }
    store::Blobs blobs;
    if (!evaluation.profile.empty())
      blobs.push_back(std::move(result.evaluated.profile));
    return ledger_.record(evaluation, blobs, result.seconds);
  }

  // --- ending

  bool interrupted() const { return options_.interrupted && options_.interrupted(); }

  bool stop_wanted() {
    const auto& limit = state().started.settings.budget.seconds;
    if (interrupted())
      stop_ = stopped_by_user();
    else if (!stop_ && limit && options_.seconds_before + seconds_since(start_) >= *limit)
      stop_ = stopped_by_clock(*limit);
    return stop_.has_value();
  }

  // By the user, a service that refuses or a cap: what is under way stays so.
  bool stopped_midway() const {
    return stop_ && (stop_->reason == StopReason::interrupted ||
                     stop_->reason == StopReason::unavailable || desk_.refusal());
  }

  Result<void> finish() {
    stopping_ = true;
    while (!under_way_.empty() && !stopped_midway()) {
      if (interrupted())
        stop_ = stopped_by_user();
      else
        KERNEVO_CHECK(tell_oldest());
    }
    // Steps under way when the user stops stay so in the journal: telling them now, and not when
    // the next step is due, would make the decisions after a resume others than without the stop.
    // What their instances and models brought is remembered; what the calls cost is booked now.
    if (stopped_midway()) {
      cancelled_ = true;
      under_way_.drop();
      KERNEVO_CHECK(ledger_.record_calls(desk_.take_all()));
    }
    if (stop_)
      KERNEVO_CHECK(ledger_.record(*stop_));
    return ledger_.put_snapshot();
  }

  const RunContext& context_;
  store::Journal& journal_;
  Panel& panel_;
  const OrchestratorOptions& options_;
  RunMemo memo_;
  std::atomic<bool> cancelled_ = false;
  RunDesk desk_; // replies of models are this run's alone
  Clock::time_point start_;
  RunLedger ledger_;
  bool stopping_ = false;
  std::optional<RunStopped> stop_;
  std::counting_semaphore<> slots_; // of evaluations
  StepsUnderWay under_way_;         // last: its threads end before what they use
};

} // namespace

Result<RunState> start_run(const RunContext& context, const RunStarted& started,
                           store::Journal& journal, Panel& panel,
                           const OrchestratorOptions& options) {
  return Orchestrator(context, journal, panel, options).begin(started);
}

Result<RunState> go_on_until_asked(const RunContext& context, store::Journal& journal, Panel& panel,
                                   const OrchestratorOptions& options) {
  return Orchestrator(context, journal, panel, options).go_on_quietly();
}

Result<Told> tell_step(const RunContext& context, store::Journal& journal, Panel& panel,
                       const OrchestratorOptions& options, Step step,
                       const propose::Proposal& proposal) {
  return Orchestrator(context, journal, panel, options).tell_from_outside(step, proposal);
}

Result<RunState> resume_run(const RunContext& context, store::Journal& journal, Panel& panel,
                            const OrchestratorOptions& options) {
  return Orchestrator(context, journal, panel, options).resume();
}

} // namespace kernevo::evolve
