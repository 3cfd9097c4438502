#include "kernevo/evolve/steps_under_way.h"

#include <chrono>

namespace kernevo::evolve {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(100); // between two questions

} // namespace

void StepsUnderWay::submit(EvaluationRequest request, propose::Proposer* proposer,
                           propose::ProposalRequest asked) {
  auto promise = std::make_shared<std::promise<std::optional<StepResult>>>();
  results_[request.step] = promise->get_future();
  pool_.submit(
      [this, promise, request = std::move(request), proposer, asked = std::move(asked)]() mutable {
        const Step step = request.step;
        try {
          promise->set_value(work_on_step(services_, std::move(request), proposer, asked));
        } catch (const std::exception& problem) { // a defect of ours costs one step, not the run
          promise->set_value(trouble(step, {ErrorCode::infrastructure,
                                            std::string("internal error: ") + problem.what(),
                                            std::nullopt, "please report it"}));
        }
      });
}

void StepsUnderWay::add_done(Step step, StepResult result) {
  std::promise<std::optional<StepResult>> promise;
  results_[step] = promise.get_future();
  promise.set_value(std::move(result));
}

std::optional<StepsUnderWay::Done>
StepsUnderWay::take_oldest(const std::function<bool()>& keep_waiting) {
  if (results_.empty())
    return std::nullopt;
  const auto oldest = results_.begin();
  while (oldest->second.wait_for(kPatience) != std::future_status::ready)
    if (!keep_waiting())
      return std::nullopt;
  Done done{oldest->first, oldest->second.get()};
  results_.erase(oldest);
  return done;
}

void StepsUnderWay::drop() {
  pool_.cancel();
  for (const auto& [step, result] : results_)
    result.wait();
  results_.clear();
}

} // namespace kernevo::evolve
