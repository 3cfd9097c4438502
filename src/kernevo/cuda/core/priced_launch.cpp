#include "kernevo/cuda/core/priced_launch.h"

#include "kernevo/predict/calibration.h"

#include <algorithm>
#include <utility>

namespace kernevo::cuda {
namespace {

class LaunchQuote : public Quote {
public:
  LaunchQuote(std::shared_ptr<PricedLaunch> launch, WorkRatio ratio)
      : launch_(std::move(launch)), ratio_(ratio) {}

  std::optional<Cost> look() const override {
    const Result<LaunchPrice>* const price = launch_->known();
    return price == nullptr ? std::nullopt : std::optional(cost_of(*price));
  }
  Cost wait() const override { return cost_of(launch_->ask()); }

private:
  Cost cost_of(const Result<LaunchPrice>& price) const {
    if (!price)
      return {0, Engine::none, 1, false};
    return {scaled_ns(*price, ratio_), Engine::multiprocessors, std::min(1.0, price->waves)};
  }

  std::shared_ptr<PricedLaunch> launch_;
  WorkRatio ratio_;
};

} // namespace

PricedLaunch::PricedLaunch(PriceProcess& process, Launch launch)
    : process_(process), sampling_error_(launch.counts.sampling_error.value_or(0)),
      launch_(std::move(launch)) {}

PricedLaunch::PricedLaunch(PriceProcess& process, std::string reason)
    : process_(process), price_(fail(ErrorCode::unsupported, std::move(reason))) {}

const Result<LaunchPrice>* PricedLaunch::known() const {
  const std::lock_guard lock(mutex_);
  return price_ ? &*price_ : nullptr; // never changed once it is there
}

const Result<LaunchPrice>& PricedLaunch::ask() {
  const std::lock_guard lock(mutex_);
  if (!price_) {
    price_ = process_.price(launch_->module, *launch_->texts, launch_->kernel, launch_->counts);
    launch_.reset();
  }
  return *price_;
}

// By the resource that would need longest then.
double scaled_ns(const LaunchPrice& price, const WorkRatio& ratio) {
  const double start = std::min(price.time.value, kCalibration.launch_ns);
  double longest = 0;
  double scaled = 0;
  for (const TimingTerm& term : price.bounds) {
    if (term.name == "launch" || term.name == "tail")
      continue;
    const bool memory = term.name == "dram" || term.name == "l2" || term.name == "l1";
    longest = std::max(longest, term.time.value);
    scaled = std::max(scaled, term.time.value * (memory ? ratio.sectors : ratio.instructions));
  }
  return start + (price.time.value - start) * (longest > 0 ? scaled / longest : ratio.instructions);
}

std::shared_ptr<const Quote> quote_of(std::shared_ptr<PricedLaunch> launch, WorkRatio ratio) {
  return std::make_shared<LaunchQuote>(std::move(launch), ratio);
}

} // namespace kernevo::cuda
