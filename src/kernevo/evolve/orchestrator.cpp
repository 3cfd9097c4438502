#include "kernevo/evolve/orchestrator.h"

#include "kernevo/base/hash.h"
#include "kernevo/tune/job_pool.h"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <future>

namespace kernevo::evolve {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(100); // between two looks at the clock
constexpr std::int64_t kSnapshotEvery = 1000;              // events

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The journal's memory, and one shared with other runs behind it.
class RunMemo : public Memo {
public:
  RunMemo(store::Journal& journal, Memo* shared) : journal_(journal), shared_(shared) {}

  Result<std::optional<std::string>> recall(const std::string& key) override {
    KERNEVO_TRY(own, journal_.recall(key));
    if (own || shared_ == nullptr)
      return std::move(own);
    return shared_->recall(key);
  }
  Result<void> remember(const std::string& key, std::string_view body) override {
    KERNEVO_CHECK(journal_.remember(key, body));
    return shared_ == nullptr ? Result<void>() : shared_->remember(key, body);
  }

private:
  store::Journal& journal_;
  Memo* shared_;
};

// What a thread brings back of a step.
struct StepResult {
  std::optional<Candidate> candidate; // of a proposer that was asked there
  std::string source;                 // of that candidate
  EvaluationResult evaluated;
  double seconds = 0;
};

class Orchestrator {
public:
  Orchestrator(const RunContext& context, store::Journal& journal, Panel& panel,
               const OrchestratorOptions& options)
      : context_(context), journal_(journal), panel_(panel), options_(options),
        memo_(journal, options.shared), start_(Clock::now()), pool_(options.jobs) {}

  ~Orchestrator() {
    cancelled_ = true;
    pool_.cancel();
  }
  Orchestrator(const Orchestrator&) = delete;
  Orchestrator& operator=(const Orchestrator&) = delete;

  Result<RunState> begin(const RunStarted& started) {
    KERNEVO_CHECK(record(started, {context_.task_text}));
    return go_on();
  }

  Result<RunState> resume() {
    KERNEVO_TRY(state, fold_journal(journal_));
    state_ = std::move(state);
    const RunBudget budget = options_.budget.value_or(state_.started.settings.budget);
    if (!can_go_on(state_) && budget == state_.started.settings.budget)
      return std::move(state_);
    KERNEVO_CHECK(record(RunResumed{state_.next_step, budget}));
    return go_on();
  }

private:
  Result<RunState> go_on() {
    KERNEVO_CHECK(baseline());
    for (const auto& [step, directive] : std::map(state_.pending))
      if (!under_way_.contains(step))
        KERNEVO_CHECK(launch(directive));
    while (state_.baseline && !stop_wanted()) {
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

  Result<void> launch(const Directive& directive) {
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
    KERNEVO_TRY(asked, panel_.request(state_, directive));
    if (!proposer->immediate()) {
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

  static Candidate candidate_of(const Directive& directive, const propose::Proposal& proposal) {
    Candidate candidate;
    candidate.step = directive.step;
    candidate.source = sha256_hex(proposal.source);
    for (const auto& parent : {directive.parent, directive.mate})
      if (parent)
        candidate.parents.push_back(*parent);
    candidate.proposer = directive.proposer;
    candidate.title = proposal.title;
    candidate.genes = proposal.genes;
    candidate.cost = proposal.cost;
    return candidate;
  }

  static StepResult nothing_proposed(Step step) {
    StepResult result;
    result.evaluated.evaluation.step = step;
    result.evaluated.evaluation.candidate = step;
    result.evaluated.evaluation.outcome = StepOutcome::no_proposal;
    result.evaluated.evaluation.summary = "the proposer has nothing for this";
    return result;
  }

  // Of the machine: an outcome that is told and teaches nothing.
  static StepResult trouble(Step step, const Error& error) {
    StepResult result = nothing_proposed(step);
    result.evaluated.evaluation.outcome = StepOutcome::infrastructure;
    result.evaluated.evaluation.summary = format_error(error);
    return result;
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
        promise->set_value(work(std::move(request), proposer, asked));
      } catch (const std::exception& problem) { // a defect of ours: one step's loss, not the run's
        promise->set_value(trouble(step, {ErrorCode::infrastructure,
                                          std::string("internal error: ") + problem.what(),
                                          std::nullopt, "please report it"}));
      }
    });
  }

  // In a thread of the pool.
  std::optional<StepResult> work(EvaluationRequest request, propose::Proposer* proposer,
                                 const propose::ProposalRequest& asked) {
    const auto began = Clock::now();
    StepResult result = nothing_proposed(request.step);
    const auto failed = [&](const Error& error) {
      result.evaluated = trouble(request.step, error).evaluated;
      result.seconds = seconds_since(began);
      return result;
    };
    if (proposer != nullptr) {
      auto proposal = proposer->propose(asked);
      if (!proposal)
        return failed(proposal.error());
      if (!*proposal)
        return result;
      result.candidate = candidate_of(asked.directive, **proposal);
      result.source = (*proposal)->source;
      request.source = result.source;
    }
    auto evaluated = evaluate_candidate(context_, memo_, request);
    if (!evaluated)
      return cancelled_ ? std::nullopt : std::optional(failed(evaluated.error()));
    if (!*evaluated)
      return std::nullopt;
    result.evaluated = std::move(**evaluated);
    result.seconds = seconds_since(began);
    return result;
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
    if (result->candidate)
      KERNEVO_CHECK(record(*result->candidate, {result->source}));
    return tell(step, std::move(*result));
  }

  Result<void> tell(Step step, StepResult result) {
    Evaluation evaluation = std::move(result.evaluated.evaluation);
    if (step == 0) {
      if (evaluation.outcome != StepOutcome::improved)
        return fail(evaluation.outcome == StepOutcome::infrastructure ? ErrorCode::infrastructure
                                                                      : ErrorCode::input,
                    "the reference kernel is no baseline: " + evaluation.summary,
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
    else if (!stop_ && limit && seconds_since(start_) >= *limit)
      stop_ = RunStopped{StopReason::seconds, fmt::format("{:.0f} seconds are over", *limit)};
    return stop_.has_value();
  }

  Result<void> finish() {
    stopping_ = true;
    while (!under_way_.empty() && !(stop_ && stop_->reason == StopReason::interrupted)) {
      if (interrupted())
        stop_ = by_user();
      else
        KERNEVO_CHECK(tell_oldest());
    }
    // Steps under way when the user stops stay so in the journal: telling them now, and not when
    // the next step is due, would make the decisions after a resume others than without the stop.
    // What their instances brought is remembered.
    if (stop_ && stop_->reason == StopReason::interrupted) {
      cancelled_ = true;
      pool_.cancel();
      for (const auto& [step, result] : under_way_)
        result.wait();
      under_way_.clear();
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
  Clock::time_point start_;
  RunState state_;
  std::map<Step, std::future<std::optional<StepResult>>> under_way_;
  std::atomic<bool> cancelled_ = false;
  bool stopping_ = false;
  std::optional<RunStopped> stop_;
  tune::JobPool pool_; // last: its threads end before what they use
};

} // namespace

Result<RunState> fold_journal(store::Journal& journal) {
  RunState state;
  std::int64_t from = 1;
  KERNEVO_TRY(snapshot, journal.snapshot());
  // One that another version wrote may not be read; the events say the same.
  if (snapshot)
    if (auto stored = run_state_from_json(snapshot->body)) {
      state = std::move(*stored);
      from = snapshot->number + 1;
    }
  KERNEVO_CHECK(journal.read(from, [&](const store::StoredEvent& stored) {
    state.apply(stored.event);
    return true;
  }));
  return state;
}

bool can_go_on(const RunState& state) {
  return !state.stopped || state.stopped->reason == StopReason::interrupted ||
         state.stopped->reason == StopReason::seconds ||
         state.stopped->reason == StopReason::trouble;
}

Result<RunState> start_run(const RunContext& context, const RunStarted& started,
                           store::Journal& journal, Panel& panel,
                           const OrchestratorOptions& options) {
  return Orchestrator(context, journal, panel, options).begin(started);
}

Result<RunState> resume_run(const RunContext& context, store::Journal& journal, Panel& panel,
                            const OrchestratorOptions& options) {
  return Orchestrator(context, journal, panel, options).resume();
}

} // namespace kernevo::evolve
