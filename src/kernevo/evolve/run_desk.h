// The desk of a run: memory that survives a crash, the books of model calls, hard caps in tokens
// and dollars. Calls are made by threads; what they cost is told to the journal in the order of the
// steps.
#pragma once

#include "kernevo/model/run_event.h"
#include "kernevo/propose/desk.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace kernevo::evolve {

class RunDesk : public propose::Desk {
public:
  RunDesk(store::Memo& memo, const std::atomic<bool>& cancelled)
      : memo_(memo), cancelled_(cancelled) {}

  // What was spent before, and the caps from now on.
  struct Spent {
    TokenUsage usage;
    double dollars = 0; // as far as it is known
  };
  void begin(const RunBudget& budget, const Spent& spent,
             std::set<std::pair<Step, std::string>> booked);

  bool cancelled() const override { return cancelled_.load(); }
  store::Memo& memo() override { return memo_; }
  std::optional<std::uint64_t> reserve(Step step, const std::string& call, std::uint64_t prompt,
                                       std::uint64_t wanted,
                                       const std::optional<ModelPrice>& price) override;
  void release(Step step, const std::string& call) override;
  void account(const ModelCall& call) override;

  // The cap that left no room for a call, if one ever did.
  std::optional<StopReason> refusal() const;

  // Calls of a step that were accounted for since they were last taken, in their order.
  std::vector<ModelCall> take(Step step);
  // The same of all steps.
  std::vector<ModelCall> take_all();

private:
  struct Room {
    std::uint64_t tokens = 0;
    double dollars = 0;
  };
  // What a call may have now; nothing when a cap is in the way, which `full` then names.
  std::optional<std::uint64_t> room_for(std::uint64_t prompt, std::uint64_t wanted,
                                        const std::optional<ModelPrice>& price, Room& room,
                                        StopReason& full) const;
  void learn_price(const TokenUsage& usage, double dollars);

  store::Memo& memo_;
  const std::atomic<bool>& cancelled_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  RunBudget budget_;
  std::uint64_t tokens_ = 0;
  double dollars_ = 0;
  // Dollars for a token of a prompt and of a reply, of the calls so far, rather too many: each as
  // if the other had cost nothing.
  double dearest_prompt_ = 0;
  double dearest_reply_ = 0;
  bool price_known_ = false;
  bool unpriced_ = false; // a call cost what nobody knows: a cap in dollars cannot be held
  std::optional<StopReason> refusal_;
  std::set<std::pair<Step, std::string>> booked_; // in the journal already
  std::map<std::pair<Step, std::string>, Room> reserved_;
  std::map<Step, std::vector<ModelCall>> calls_;
};

} // namespace kernevo::evolve
