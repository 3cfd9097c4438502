#include "kernevo/report/run_story.h"

#include <algorithm>

namespace kernevo::report {
namespace {

class Teller {
public:
  explicit Teller(RunStory& story) : story_(story) {}

  void take(const store::StoredEvent& stored) {
    pass_time(stored);
    story_.state.apply(stored.event);
    if (const auto* directive = std::get_if<Directive>(&stored.event)) {
      at(directive->step).directive = *directive;
    } else if (const auto* candidate = std::get_if<Candidate>(&stored.event)) {
      at(candidate->step).candidate = *candidate;
    } else if (const auto* attempt = std::get_if<Attempt>(&stored.event)) {
      at(attempt->step).attempts.push_back(*attempt);
      ++story_.attempts;
    } else if (const auto* call = std::get_if<ModelCall>(&stored.event)) {
      take_call(*call);
    } else if (const auto* evaluation = std::get_if<Evaluation>(&stored.event)) {
      tell(*evaluation, stored.seconds);
    } else if (const auto* restarted = std::get_if<Restarted>(&stored.event)) {
      story_.restarts.push_back(*restarted);
    }
  }

private:
  // Steps begin in order, so almost always this is the last one.
  StoryStep& at(Step step) {
    auto& steps = story_.steps;
    auto place =
        std::lower_bound(steps.begin(), steps.end(), step, [](const StoryStep& one, Step number) {
          return one.directive.step < number;
        });
    if (place == steps.end() || place->directive.step != step) {
      place = steps.insert(place, StoryStep{});
      place->directive.step = step;
    }
    return *place;
  }

  // Calls that only try the models out belong to no step, whatever number they have.
  void take_call(const ModelCall& call) {
    const StoryStep* step = story_.find(call.step);
    if (step != nullptr && !step->evaluation)
      at(call.step).calls.push_back(call);
  }

  void tell(const Evaluation& evaluation, const std::optional<double>& seconds) {
    StoryStep& step = at(evaluation.step);
    step.evaluation = evaluation;
    step.seconds = seconds;
    step.spent = story_.state.evaluations;
    story_.evaluation_seconds += seconds.value_or(0);
    if (evaluation.outcome == StepOutcome::baseline || evaluation.outcome == StepOutcome::improved)
      story_.bests.push_back(evaluation.step);
    if (is_right(evaluation.outcome) && evaluation.objective)
      story_.measured[evaluation.candidate].push_back(evaluation.step);
  }

  // What lies before a resume is a pause.
  void pass_time(const store::StoredEvent& stored) {
    if (stored.number == 1)
      story_.began = stored.milliseconds;
    else if (!std::holds_alternative<RunResumed>(stored.event))
      story_.seconds +=
          static_cast<double>(std::max<std::int64_t>(0, stored.milliseconds - story_.last)) / 1e3;
    story_.last = stored.milliseconds;
  }

  RunStory& story_;
};

} // namespace

const StoryStep* RunStory::find(Step step) const {
  const auto place =
      std::lower_bound(steps.begin(), steps.end(), step, [](const StoryStep& one, Step number) {
        return one.directive.step < number;
      });
  return place != steps.end() && place->directive.step == step ? &*place : nullptr;
}

const Evaluation* RunStory::known(Step candidate, Step before) const {
  const auto found = measured.find(candidate);
  const Evaluation* fastest = nullptr;
  if (found == measured.end())
    return fastest;
  for (const Step step : found->second) {
    const Evaluation& one = *find(step)->evaluation;
    if (step < before && (fastest == nullptr || *one.objective < *fastest->objective))
      fastest = &one;
  }
  return fastest;
}

Result<RunStory> read_story(store::Journal& journal) {
  RunStory story;
  Teller teller(story);
  KERNEVO_CHECK(journal.read(1, [&](const store::StoredEvent& stored) {
    teller.take(stored);
    return true;
  }));
  if (story.state.started.run.empty())
    return fail(ErrorCode::input, "the run ended before it began", Place{journal.location()},
                "remove the folder and start anew");
  return story;
}

} // namespace kernevo::report
