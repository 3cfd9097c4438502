#include "kernevo/evolve/orchestrator.h"

#include "kernevo/base/hash.h"
#include "kernevo/base/job_pool.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/evolve/run_desk.h"
#include "kernevo/evolve/run_memo.h"
#include "kernevo/evolve/step_work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <set>

namespace kernevo::evolve {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(100); // between two looks at the clock
constexpr std::int64_t kSnapshotEvery = 1000;              // events
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
        slots_(options.jobs),
        // Whoever waits for a model holds a thread, but no slot of the evaluations.
        pool_(options.jobs + static_cast<unsigned>(panel.all_immediate() ? 0 : kWaiting)) {}

  ~Orchestrator() {
    cancelled_ = true;
    pool_.cancel();
  }
  Orchestrator(const Orchestrator&) = delete;
  Orchestrator& operator=(const Orchestrator&) = delete;

  Result<RunState> begin(const RunStarted& started) {
    KERNEVO_CHECK(record(started, {context_.task_text}));
    KERNEVO_CHECK(book(options_.calls_before));
    return go_on();
  }

  // Goes on until a kernel from outside is wanted or the run is over, as if it had never paused.
  Result<RunState> go_on_quietly() {
    KERNEVO_TRY(state, fold_journal(journal_));
    state_ = std::move(state);
    if (state_.stopped && !can_go_on(state_))
      return std::move(state_);
    return go_on();
  }

  // A kernel from outside for a step that waits for one.
  Result<Told> take(Step step, const propose::Proposal& proposal) {
    KERNEVO_TRY(state, fold_journal(journal_));
    state_ = std::move(state);
    const auto found = state_.pending.find(step);
    if (found == state_.pending.end())
      return fail(ErrorCode::usage, fmt::format("step {} waits for no kernel", step), std::nullopt,
                  "'kernevo ask' says which one does");
    const Directive directive = found->second;
    propose::Proposer* proposer = panel_.find(directive.proposer);
    if (proposer == nullptr || !proposer->outside())
      return fail(ErrorCode::usage, fmt::format("step {} is not yours to answer", step),
                  std::nullopt, "'kernevo ask' says which one is");
    EvaluationRequest request = evaluation_of(directive);
    request.source = proposal.source;
    request.interrupted = [this] { return interrupted(); };
    const std::size_t spent = spent_on_attempts(step);
    request.evaluations =
        std::max<std::size_t>(1, request.evaluations - std::min(spent, request.evaluations));
    const StepBench bench{context_, memo_, slots_};
    auto result = work_on_step(bench, std::move(request), nullptr, {});
    if (!result)
      return fail(ErrorCode::infrastructure, "interrupted; nothing was recorded", std::nullopt,
                  "tell it again");
    if (result->evaluated.evaluation.outcome == StepOutcome::infrastructure)
      return fail(ErrorCode::infrastructure,
                  result->trouble ? format_error(visible(*result->trouble, Audience::proposer))
                                  : "trouble of the machine",
                  std::nullopt, "nothing was recorded; tell it again");
    Told told;
    told.diagnosis = result->evaluated.diagnosis;
    const std::size_t before = state_.pending_attempts[step].size();
    if (can_be_mended(result->evaluated) && before < proposer->repairs()) {
      KERNEVO_CHECK(
          record(attempt_of(step, static_cast<std::uint32_t>(before), proposal,
                            *result->evaluated.diagnosis, result->evaluated.evaluation.evaluations),
                 {proposal.source}));
      told.evaluation = result->evaluated.evaluation;
      told.repairs_left = static_cast<std::uint32_t>(proposer->repairs() - before - 1);
      told.open = true;
    } else {
      Candidate candidate = candidate_of(directive, proposal);
      if (const Member* parent = state_.find(directive.parent.value_or(0)))
        candidate.genes = parent->candidate.genes;
      candidate.genes.push_back(fmt::format("{}:{}", directive.proposer, directive.direction));
      KERNEVO_CHECK(record(candidate, {proposal.source}));
      result->evaluated.evaluation.evaluations += spent;
      KERNEVO_CHECK(tell(step, std::move(*result)));
      KERNEVO_TRY(evaluation, journal_.evaluation(step));
      told.evaluation = evaluation.value_or(Evaluation{});
    }
    told.evaluation = visible(std::move(told.evaluation), Audience::proposer);
    KERNEVO_CHECK(journal_.put_snapshot({journal_.events(), to_json(state_)}));
    told.state = std::move(state_);
    return told;
  }

  Result<RunState> resume() {
    KERNEVO_TRY(state, fold_journal(journal_));
    state_ = std::move(state);
    const RunBudget budget = options_.budget.value_or(state_.started.settings.budget);
    if (!can_go_on(state_) && budget == state_.started.settings.budget)
      return std::move(state_);
    KERNEVO_CHECK(record(RunResumed{state_.next_step, budget}));
    KERNEVO_CHECK(book(options_.calls_before));
    return go_on();
  }

private:
  Result<RunState> go_on() {
    std::set<std::pair<Step, std::string>> booked;
    for (const auto& [step, calls] : state_.pending_calls)
      for (const auto& [id, call] : calls)
        booked.insert({step, id});
    RunDesk::Spent spent;
    for (const auto& [stage, spending] : state_.by_stage)
      spent.usage += spending.usage;
    spent.dollars = state_.dollars_known;
    desk_.begin(state_.started.settings.budget, spent, std::move(booked));
    KERNEVO_CHECK(baseline());
    for (const auto& [step, directive] : std::map(state_.pending))
      if (!under_way_.contains(step))
        KERNEVO_CHECK(launch(directive));
    while (state_.baseline && !stop_wanted()) {
      if (waits_for_outside()) {
        if (under_way_.empty())
          break;
        KERNEVO_CHECK(tell_oldest());
        continue;
      }
      if (under_way_.size() >= state_.started.settings.ahead) {
        KERNEVO_CHECK(tell_oldest());
        continue;
      }
      KERNEVO_TRY(decision, decide(state_, panel_.view(state_)));
      KERNEVO_CHECK(carry_out(decision));
    }
    KERNEVO_CHECK(finish());
    return std::move(state_);
  }

  // Instances timed for kernels of a step that were not right.
  std::size_t spent_on_attempts(Step step) const {
    std::size_t sum = 0;
    if (const auto found = state_.pending_attempts.find(step);
        found != state_.pending_attempts.end())
      for (const Attempt& attempt : found->second)
        sum += attempt.evaluations;
    return sum;
  }

  // A step whose kernel somebody outside writes.
  bool waits_for_outside() {
    for (const auto& [step, directive] : state_.pending)
      if (const propose::Proposer* proposer = panel_.find(directive.proposer);
          proposer != nullptr && proposer->outside())
        return true;
    return false;
  }

  // --- events

  Result<void> record(const RunEvent& event, const store::Blobs& blobs = {},
                      std::optional<double> seconds = std::nullopt) {
    KERNEVO_CHECK(journal_.append(event, blobs, seconds));
    state_.apply(event);
    if (journal_.events() % kSnapshotEvery == 0)
      KERNEVO_CHECK(journal_.put_snapshot({journal_.events(), to_json(state_)}));
    notify(&event);
    return {};
  }

  void notify(const RunEvent* event) const {
    if (options_.observer)
      options_.observer(event, {&state_, seconds_since(start_), stopping_});
  }

  // --- the baseline is measured, never believed

  Result<void> baseline() {
    if (state_.baseline)
      return {};
    if (!state_.pending.contains(0)) {
      Directive directive;
      directive.gate = "baseline";
      directive.reason = "the reference is measured first, on the same device";
      directive.evaluations = 1;
      KERNEVO_CHECK(record(directive));
    }
    if (!state_.pending_candidates.contains(0)) {
      Candidate reference;
      reference.source = sha256_hex(context_.reference_source);
      reference.proposer = "reference";
      reference.title = "The reference.";
      KERNEVO_CHECK(record(reference, {context_.reference_source}));
    }
    KERNEVO_CHECK(launch(state_.pending.at(0)));
    while (!state_.baseline && !stop_wanted())
      KERNEVO_CHECK(tell_oldest());
    return {};
  }

  // --- from a decision to a step under way

  Result<void> carry_out(const Decision& decision) {
    if (const auto* directive = std::get_if<Directive>(&decision)) {
      KERNEVO_CHECK(record(*directive));
      return launch(*directive);
    }
    if (const auto* restarted = std::get_if<Restarted>(&decision))
      return record(*restarted);
    if (const auto* migrated = std::get_if<Migrated>(&decision))
      return record(*migrated);
    if (const auto* stopped = std::get_if<RunStopped>(&decision)) {
      stop_ = *stopped;
      return {};
    }
    return tell_oldest();
  }

  EvaluationRequest evaluation_of(const Directive& directive) {
    EvaluationRequest request;
    request.step = directive.step;
    request.candidate = directive.step;
    request.evaluations = directive.evaluations;
    request.least_gain = state_.started.settings.least_gain;
    request.seed = state_.started.settings.seed;
    request.inputs = state_.started.settings.inputs;
    request.interrupted = [this] { return cancelled_.load(); };
    if (directive.incumbent_ns)
      request.incumbent = Nanoseconds{*directive.incumbent_ns};
    request.known = [this, frontier = directive.frontier](const std::string& identity) {
      return journal_.find_identity(identity, frontier);
    };
    return request;
  }

  Result<void> launch(const Directive& directive) {
    EvaluationRequest request = evaluation_of(directive);
    if (directive.mode == SearchMode::tune) {
      const Member* member = state_.find(*directive.parent);
      request.candidate = *directive.parent;
      request.tune_only = true;
      request.already = member->tuned;
      KERNEVO_TRY(source, journal_.blob(member->candidate.source));
      request.source = std::move(source);
      submit(request, nullptr, {});
      return {};
    }
    if (const auto found = state_.pending_candidates.find(directive.step);
        found != state_.pending_candidates.end()) {
      KERNEVO_TRY(source, journal_.blob(found->second.source));
      request.source = std::move(source);
      submit(request, nullptr, {});
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
    KERNEVO_TRY(asked, panel_.request(state_, directive));
    if (!proposer->immediate()) {
      asked.desk = &desk_;
      submit(request, proposer, std::move(asked));
      return {};
    }
    const auto answer = proposer->propose(asked);
    if (!answer || !*answer) {
      ready(directive.step,
            answer ? nothing_proposed(directive.step) : trouble(directive.step, answer.error()));
      return {};
    }
    const propose::Proposal& proposal = **answer;
    KERNEVO_CHECK(record(candidate_of(directive, proposal), {proposal.source}));
    request.source = proposal.source;
    submit(request, nullptr, {});
    return {};
  }

  void ready(Step step, StepResult result) {
    std::promise<std::optional<StepResult>> promise;
    under_way_[step] = promise.get_future();
    promise.set_value(std::move(result));
  }

  void submit(EvaluationRequest request, propose::Proposer* proposer,
              propose::ProposalRequest asked) {
    auto promise = std::make_shared<std::promise<std::optional<StepResult>>>();
    under_way_[request.step] = promise->get_future();
    pool_.submit([this, promise, request = std::move(request), proposer,
                  asked = std::move(asked)]() mutable {
      const Step step = request.step;
      try {
        const StepBench bench{context_, memo_, slots_};
        promise->set_value(work_on_step(bench, std::move(request), proposer, asked));
      } catch (const std::exception& problem) { // a defect of ours: one step's loss, not the run's
        promise->set_value(trouble(step, {ErrorCode::infrastructure,
                                          std::string("internal error: ") + problem.what(),
                                          std::nullopt, "please report it"}));
      }
    });
  }

  // --- telling

  Result<void> tell_oldest() {
    if (under_way_.empty())
      return {};
    const auto oldest = under_way_.begin();
    while (oldest->second.wait_for(kPatience) != std::future_status::ready) {
      notify(nullptr);
      if (interrupted())
        return {}; // the loop sees it, too
    }
    std::optional<StepResult> result = oldest->second.get();
    const Step step = oldest->first;
    under_way_.erase(oldest);
    if (!result)
      return {}; // interrupted
    if (result->halt) {
      KERNEVO_CHECK(book(desk_.take(step))); // what was spent is part of what is said
      stop_ = halted(*result->halt);
      return {};
    }
    KERNEVO_CHECK(book(desk_.take(step)));
    for (std::size_t i = 0; i < result->attempts.size(); ++i)
      if (!knows(result->attempts[i]))
        KERNEVO_CHECK(record(result->attempts[i], result->attempts[i].source.empty()
                                                      ? store::Blobs{}
                                                      : store::Blobs{result->attempt_sources[i]}));
    if (result->candidate) {
      result->candidate->cost = cost_of(step);
      KERNEVO_CHECK(record(*result->candidate, {result->source}));
    } else if (result->attempts.empty()) { // the candidate was told before a crash
      result->evaluated.evaluation.evaluations += spent_on_attempts(step);
    }
    return tell(step, std::move(*result));
  }

  // What was said before the run was stopped is not said again.
  bool knows(const Attempt& attempt) const {
    const auto found = state_.pending_attempts.find(attempt.step);
    return found != state_.pending_attempts.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](const Attempt& earlier) { return earlier.ordinal == attempt.ordinal; });
  }

  Result<void> book(const std::vector<ModelCall>& calls) {
    for (const ModelCall& call : calls)
      if (const auto found = state_.pending_calls.find(call.step);
          found == state_.pending_calls.end() || !found->second.contains(call.id))
        KERNEVO_CHECK(record(call, {}, call.seconds));
    return {};
  }

  // Of all calls of a step, also those of before a stop.
  ProposalCost cost_of(Step step) const {
    ProposalCost cost;
    if (const auto found = state_.pending_calls.find(step); found != state_.pending_calls.end())
      for (const auto& [id, call] : found->second) {
        cost.tokens += call.usage.total();
        if (call.dollars)
          cost.dollars = cost.dollars.value_or(0) + *call.dollars;
      }
    return cost;
  }

  RunStopped halted(const Error& error) {
    const RunBudget& budget = state_.started.settings.budget;
    const auto cap = desk_.refusal();
    if (cap == StopReason::tokens && budget.tokens)
      return {*cap, fmt::format("{} of {} tokens are spent, and the rest is too little for a call",
                                state_.tokens, *budget.tokens)};
    if (cap == StopReason::dollars && budget.dollars)
      return {*cap, state_.dollars
                        ? fmt::format("{:.4f} of {:.4f} dollars are spent, and the rest is too "
                                      "little for a call",
                                      state_.dollars_known, *budget.dollars)
                        : "what a call costs is not known, so a cap in dollars cannot be held; "
                          "give --price, or cap --tokens"};
    return {StopReason::unavailable, format_error(error) + "; --resume goes on"};
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

  Result<void> tell(Step step, StepResult result) {
    Evaluation evaluation = std::move(result.evaluated.evaluation);
    if (step == 0) {
      if (evaluation.outcome != StepOutcome::improved)
        return fail(evaluation.outcome == StepOutcome::infrastructure ? ErrorCode::infrastructure
                                                                      : ErrorCode::input,
                    "the reference kernel is no baseline: " + why_not(evaluation, result),
                    Place{context_.task.file}, "mend it; 'kernevo check' says more");
      evaluation.outcome = StepOutcome::baseline;
    } else {
      std::optional<Step> twin;
      if (!evaluation.identity.empty()) {
        KERNEVO_TRY(found, journal_.find_identity(evaluation.identity, step));
        twin = found;
      }
      evaluation = settle(state_, std::move(evaluation), twin);
    }
    store::Blobs blobs;
    if (!evaluation.profile.empty())
      blobs.push_back(std::move(result.evaluated.profile));
    return record(evaluation, blobs, result.seconds);
  }

  // --- ending

  bool interrupted() const { return options_.interrupted && options_.interrupted(); }

  static RunStopped by_user() {
    return {StopReason::interrupted, "stopped by the user; --resume goes on"};
  }

  bool stop_wanted() {
    const auto& limit = state_.started.settings.budget.seconds;
    if (interrupted())
      stop_ = by_user();
    else if (!stop_ && limit && options_.seconds_before + seconds_since(start_) >= *limit)
      stop_ = RunStopped{StopReason::seconds, fmt::format("{:.0f} seconds are over", *limit)};
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
        stop_ = by_user();
      else
        KERNEVO_CHECK(tell_oldest());
    }
    // Steps under way when the user stops stay so in the journal: telling them now, and not when
    // the next step is due, would make the decisions after a resume others than without the stop.
    // What their instances and models brought is remembered; what the calls cost is booked now.
    if (stopped_midway()) {
      cancelled_ = true;
      pool_.cancel();
      for (const auto& [step, result] : under_way_)
        result.wait();
      under_way_.clear();
      KERNEVO_CHECK(book(desk_.take_all()));
    }
    if (stop_)
      KERNEVO_CHECK(record(*stop_));
    return journal_.put_snapshot({journal_.events(), to_json(state_)});
  }

  const RunContext& context_;
  store::Journal& journal_;
  Panel& panel_;
  const OrchestratorOptions& options_;
  RunMemo memo_;
  std::atomic<bool> cancelled_ = false;
  RunDesk desk_; // replies of models are this run's alone
  Clock::time_point start_;
  RunState state_;
  std::map<Step, std::future<std::optional<StepResult>>> under_way_;
  bool stopping_ = false;
  std::optional<RunStopped> stop_;
  std::counting_semaphore<> slots_; // of evaluations
  JobPool pool_;                    // last: its threads end before what they use
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
  return Orchestrator(context, journal, panel, options).take(step, proposal);
}

Result<RunState> resume_run(const RunContext& context, store::Journal& journal, Panel& panel,
                            const OrchestratorOptions& options) {
  return Orchestrator(context, journal, panel, options).resume();
}

} // namespace kernevo::evolve
