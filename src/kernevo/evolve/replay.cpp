#include "kernevo/evolve/replay.h"

#include "kernevo/base/hash.h"
#include "kernevo/evaluate/contest.h"
#include "kernevo/task/load_task.h"

#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr std::size_t kDifferencesKept = 20;

class Replay {
public:
  Replay(store::Journal& journal, Panel& panel) : journal_(journal), panel_(panel) {}

  Result<ReplayResult> run() {
    std::vector<RunEvent> events;
    KERNEVO_CHECK(journal_.read(1, [&](const store::StoredEvent& stored) {
      events.push_back(stored.event);
      return true;
    }));
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (const auto* evaluation = std::get_if<Evaluation>(&events[i]))
        KERNEVO_CHECK(hold_again(*evaluation));
      KERNEVO_CHECK(look_at(events, i));
      state_.apply(events[i]);
    }
    return std::move(result_);
  }

private:
  void differ(std::string text) {
    if (result_.differences.size() < kDifferencesKept)
      result_.differences.push_back(std::move(text));
  }

  // Does the verdict that made it the best follow from the shots on file?
  Result<void> hold_again(const Evaluation& evaluation) {
    if (evaluation.outcome != StepOutcome::improved || evaluation.contest.empty())
      return {};
    KERNEVO_TRY(kept, journal_.recall(evaluation.contest));
    if (!kept) {
      differ(fmt::format("the shots that made step {} the best are missing", evaluation.step));
      return {};
    }
    KERNEVO_TRY(text, journal_.blob(state_.started.task));
    KERNEVO_TRY(reference, reference_source());
    KERNEVO_TRY(loaded, parse_task(text, state_.started.task_file, &reference));
    KERNEVO_TRY(contest, contest_from_json(*kept, loaded.task.objective));
    ++result_.contests;
    if (!replaces_incumbent(contest.overall))
      differ(fmt::format("the shots of step {} do not show it to be faster", evaluation.step));
    return {};
  }

  Result<std::string> reference_source() {
    KERNEVO_TRY(reference, journal_.candidate(0));
    return reference ? journal_.blob(reference->source) : Result<std::string>(std::string());
  }

  // Stops that the fold of the events does not explain.
  static bool from_outside(const RunStopped& stopped) {
    return stopped.reason == StopReason::seconds || stopped.reason == StopReason::interrupted ||
           stopped.reason == StopReason::unavailable || stopped.reason == StopReason::tokens ||
           stopped.reason == StopReason::dollars;
  }

  // The clock and the user decide, too: what was under way was then told without a decision.
  static bool cut_short(const std::vector<RunEvent>& events, std::size_t from) {
    for (std::size_t i = from; i < events.size(); ++i) {
      if (const auto* stopped = std::get_if<RunStopped>(&events[i]))
        return from_outside(*stopped);
      if (std::holds_alternative<Directive>(events[i]))
        return false;
    }
    return true; // the journal ends here: killed, or still running
  }

  Result<void> look_at(const std::vector<RunEvent>& events, std::size_t at) {
    const RunEvent& event = events[at];
    if (!state_.baseline || std::holds_alternative<RunResumed>(event) ||
        std::holds_alternative<Attempt>(event) || std::holds_alternative<ModelCall>(event))
      return {};
    if (const auto* candidate = std::get_if<Candidate>(&event))
      return propose_again(*candidate);
    const bool full = state_.pending.size() >= state_.started.settings.ahead;
    if (std::holds_alternative<Evaluation>(event)) {
      if (full || cut_short(events, at))
        return {};
      KERNEVO_TRY(decision, decide(state_, panel_.view(state_)));
      ++result_.decisions;
      if (!std::holds_alternative<Wait>(decision))
        differ(fmt::format("before step {} was told, a decision is made that the journal has not",
                           step_of(event)));
      return {};
    }
    if (const auto* stopped = std::get_if<RunStopped>(&event);
        stopped != nullptr && from_outside(*stopped))
      return {};
    KERNEVO_TRY(decision, decide(state_, panel_.view(state_)));
    ++result_.decisions;
    compare(event, decision);
    return {};
  }

  void compare(const RunEvent& event, const Decision& decision) {
    const bool same = std::visit(
        [&](const auto& made) {
          using Made = std::decay_t<decltype(made)>;
          if constexpr (std::is_same_v<Made, Wait>)
            return false;
          else if constexpr (std::is_same_v<Made, RunStopped>) // its text is wording
            return std::holds_alternative<Made>(event) &&
                   std::get<Made>(event).reason == made.reason;
          else
            return std::holds_alternative<Made>(event) && std::get<Made>(event) == made;
        },
        decision);
    if (!same)
      differ(fmt::format("{} of step {} is decided otherwise now", kind_of(event), step_of(event)));
  }

  Result<void> propose_again(const Candidate& candidate) {
    const auto directive = state_.pending.find(candidate.step);
    if (directive == state_.pending.end())
      return {};
    propose::Proposer* proposer = panel_.find(candidate.proposer);
    if (proposer == nullptr || !proposer->immediate())
      return {};
    KERNEVO_TRY(request, panel_.request(state_, directive->second));
    KERNEVO_TRY(proposal, proposer->propose(request));
    ++result_.proposals;
    if (!proposal || sha256_hex(proposal->source) != candidate.source)
      differ(fmt::format("the kernel proposed in step {} is another now", candidate.step));
    return {};
  }

  store::Journal& journal_;
  Panel& panel_;
  RunState state_;
  ReplayResult result_;
};

} // namespace

Result<ReplayResult> replay_run(store::Journal& journal, Panel& panel) {
  return Replay(journal, panel).run();
}

} // namespace kernevo::evolve
