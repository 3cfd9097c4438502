#include "kernevo/evolve/run_desk.h"

#include <algorithm>
#include <chrono>

namespace kernevo::evolve {
namespace {

constexpr std::uint64_t kLeastReply = 200; // tokens: less holds no kernel
constexpr double kMillion = 1e6;
constexpr auto kPatience = std::chrono::milliseconds(100); // between two looks at a cancellation

} // namespace

void RunDesk::begin(const RunBudget& budget, const Spent& spent,
                    std::set<std::pair<Step, std::string>> booked) {
  const std::lock_guard lock(mutex_);
  booked_ = std::move(booked);
  budget_ = budget;
  tokens_ = spent.usage.total();
  dollars_ = spent.dollars;
  if (spent.dollars > 0)
    learn_price(spent.usage, spent.dollars);
}

void RunDesk::learn_price(const TokenUsage& usage, double dollars) {
  price_known_ = true;
  const auto for_each = [&](std::uint64_t tokens) {
    return dollars / static_cast<double>(std::max<std::uint64_t>(1, tokens));
  };
  dearest_prompt_ = std::max(dearest_prompt_, for_each(usage.prompt));
  dearest_reply_ = std::max(dearest_reply_, for_each(usage.completion));
}

std::optional<std::uint64_t> RunDesk::room_for(std::uint64_t prompt, std::uint64_t wanted,
                                               const std::optional<ModelPrice>& price, Room& room,
                                               StopReason& full) const {
  Room held;
  for (const auto& [key, other] : reserved_) {
    held.tokens += other.tokens;
    held.dollars += other.dollars;
  }
  std::uint64_t granted = wanted;
  full = StopReason::tokens;
  if (budget_.tokens) {
    const std::uint64_t used = tokens_ + held.tokens + prompt;
    if (used + kLeastReply > *budget_.tokens)
      return std::nullopt;
    granted = std::min(granted, *budget_.tokens - used);
  }
  room = {prompt + granted, 0};
  if (!budget_.dollars)
    return granted;
  full = StopReason::dollars;
  if (!price && unpriced_)
    return std::nullopt;
  if (!price && !price_known_) {
    // What a token costs shows after the first call: until then one at a time.
    if (dollars_ >= *budget_.dollars || !reserved_.empty())
      return std::nullopt;
    return granted;
  }
  const double for_prompt = price ? price->prompt / kMillion : dearest_prompt_;
  const double for_reply = price ? price->completion / kMillion : dearest_reply_;
  const double left =
      *budget_.dollars - dollars_ - held.dollars - for_prompt * static_cast<double>(prompt);
  if (left <= for_reply * static_cast<double>(kLeastReply))
    return std::nullopt;
  if (for_reply > 0)
    granted = std::min(granted, static_cast<std::uint64_t>(std::min(left / for_reply, 1e15)));
  room = {prompt + granted,
          for_prompt * static_cast<double>(prompt) + for_reply * static_cast<double>(granted)};
  return granted;
}

std::optional<std::uint64_t> RunDesk::reserve(Step step, const std::string& call,
                                              std::uint64_t prompt, std::uint64_t wanted,
                                              const std::optional<ModelPrice>& price) {
  std::unique_lock lock(mutex_);
  while (!cancelled()) {
    Room room;
    StopReason full = StopReason::tokens;
    const auto granted = room_for(prompt, wanted, price, room, full);
    // What others hold is more than they will take: what they leave may be enough.
    if ((!granted || *granted < wanted) && !reserved_.empty()) {
      changed_.wait_for(lock, kPatience);
      continue;
    }
    if (!granted) {
      refusal_ = full;
      return std::nullopt;
    }
    reserved_[{step, call}] = room;
    refusal_.reset(); // of a call that could be done without
    return granted;
  }
  return std::nullopt;
}

void RunDesk::release(Step step, const std::string& call) {
  const std::lock_guard lock(mutex_);
  reserved_.erase({step, call});
  changed_.notify_all();
}

void RunDesk::account(const ModelCall& call) {
  const std::lock_guard lock(mutex_);
  reserved_.erase({call.step, call.id});
  changed_.notify_all();
  if (!booked_.insert({call.step, call.id}).second)
    return;
  calls_[call.step].push_back(call);
  tokens_ += call.usage.total();
  if (call.dollars) {
    dollars_ += *call.dollars;
    if (call.usage.total() > 0)
      learn_price(call.usage, *call.dollars);
    return;
  }
  if (call.usage.total() == 0)
    return;
  // A stream that broke off: what it cost is guessed from those that did not.
  if (price_known_)
    dollars_ += dearest_prompt_ * static_cast<double>(call.usage.prompt) +
                dearest_reply_ * static_cast<double>(call.usage.completion);
  else
    unpriced_ = true;
}

std::optional<StopReason> RunDesk::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

std::vector<ModelCall> RunDesk::take(Step step) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(step);
  if (found == calls_.end())
    return {};
  std::vector<ModelCall> calls = std::move(found->second);
  calls_.erase(found);
  return calls;
}

std::vector<ModelCall> RunDesk::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<ModelCall> all;
  for (auto& [step, calls] : calls_)
    all.insert(all.end(), calls.begin(), calls.end());
  calls_.clear();
  return all;
}

} // namespace kernevo::evolve
