// Steps that threads work on. Whichever is done first, their results are taken in the order of the
// steps.
#pragma once

#include "kernevo/base/job_pool.h"
#include "kernevo/evolve/step_work.h"

#include <future>
#include <map>

namespace kernevo::evolve {

class StepsUnderWay {
public:
  // What the services refer to must outlive it.
  StepsUnderWay(const StepServices& services, unsigned threads)
      : services_(services), pool_(threads) {}

  // A thread does it; `proposer` is null when the source is known.
  void submit(EvaluationRequest request, propose::Proposer* proposer,
              propose::ProposalRequest asked);
  // Nothing is left to do.
  void add_done(Step step, StepResult result);

  bool empty() const { return results_.empty(); }
  std::size_t size() const { return results_.size(); }
  bool contains(Step step) const { return results_.contains(step); }

  struct Done {
    Step step = 0;
    std::optional<StepResult> result; // absent when it was interrupted
  };
  // Takes the oldest when it is done. `keep_waiting` is asked now and then; nothing when it says
  // no, or when nothing is under way.
  std::optional<Done> take_oldest(const std::function<bool()>& keep_waiting);
  // Forgets all: what has not begun is dropped, what has is waited for.
  void drop();

private:
  StepServices services_;
  std::map<Step, std::future<std::optional<StepResult>>> results_;
  JobPool pool_; // last: its threads end before what they use
};

} // namespace kernevo::evolve
