#include "kernevo/evolve/run_ledger.h"

#include "kernevo/evolve/fold_journal.h"

#include <algorithm>

namespace kernevo::evolve {
namespace {

constexpr std::int64_t kSnapshotEvery = 1000; // events

} // namespace

Result<void> RunLedger::load() {
  KERNEVO_TRY(state, fold_journal(journal_));
  state_ = std::move(state);
  return {};
}

Result<void> RunLedger::record(const RunEvent& event, const store::Blobs& blobs,
                               std::optional<double> seconds) {
  KERNEVO_CHECK(journal_.append(event, blobs, seconds));
  state_.apply(event);
  if (journal_.events() % kSnapshotEvery == 0)
    KERNEVO_CHECK(put_snapshot());
  recorded_(event);
  return {};
}

Result<void> RunLedger::put_snapshot() {
  return journal_.put_snapshot({journal_.events(), to_json(state_)});
}

Result<void> RunLedger::record_calls(const std::vector<ModelCall>& calls) {
  for (const ModelCall& call : calls)
    if (const auto found = state_.pending_calls.find(call.step);
        found == state_.pending_calls.end() || !found->second.contains(call.id))
      KERNEVO_CHECK(record(call, {}, call.seconds));
  return {};
}

Result<void> RunLedger::record_attempts(const std::vector<Attempt>& attempts,
                                        const std::vector<std::string>& sources) {
  for (std::size_t i = 0; i < attempts.size(); ++i)
    if (!knows(attempts[i]))
      KERNEVO_CHECK(record(attempts[i],
                           attempts[i].source.empty() ? store::Blobs{} : store::Blobs{sources[i]}));
  return {};
}

bool RunLedger::knows(const Attempt& attempt) const {
  const auto found = state_.pending_attempts.find(attempt.step);
  return found != state_.pending_attempts.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const Attempt& earlier) { return earlier.ordinal == attempt.ordinal; });
}

ProposalCost RunLedger::cost_of(Step step) const {
  ProposalCost cost;
  if (const auto found = state_.pending_calls.find(step); found != state_.pending_calls.end())
    for (const auto& [id, call] : found->second) {
      cost.tokens += call.usage.total();
      if (call.dollars)
        cost.dollars = cost.dollars.value_or(0) + *call.dollars;
    }
  return cost;
}

std::size_t RunLedger::attempts_of(Step step) const {
  const auto found = state_.pending_attempts.find(step);
  return found == state_.pending_attempts.end() ? 0 : found->second.size();
}

std::size_t RunLedger::timed_for_attempts(Step step) const {
  std::size_t sum = 0;
  if (const auto found = state_.pending_attempts.find(step); found != state_.pending_attempts.end())
    for (const Attempt& attempt : found->second)
      sum += attempt.instances_timed;
  return sum;
}

} // namespace kernevo::evolve
