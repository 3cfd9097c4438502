// The price of one counted launch, asked for when somebody needs it.
#pragma once

#include "kernevo/cuda/core/price_process.h"
#include "kernevo/cuda/core/stream_clock.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::cuda {

// The PTX of a module; several were linked.
using Texts = std::shared_ptr<const std::vector<std::string>>;

class PricedLaunch {
public:
  struct Launch {
    std::uint64_t module = 0;
    Texts texts;
    std::string kernel; // as in the PTX
    LaunchCounts counts;
  };
  PricedLaunch(PriceProcess& process, Launch launch);
  // One that has no price.
  PricedLaunch(PriceProcess& process, std::string reason);

  // Null until it was asked for.
  const Result<LaunchPrice>* known() const;
  const Result<LaunchPrice>& ask();
  // How far the counted blocks may be from all.
  double sampling_error() const { return sampling_error_; }

private:
  PriceProcess& process_;
  double sampling_error_ = 0;
  mutable std::mutex mutex_;
  std::optional<Launch> launch_; // until it was asked for
  std::optional<Result<LaunchPrice>> price_;
};

// How much more a launch did than the counted one.
struct WorkRatio {
  double instructions = 1;
  double sectors = 1; // of global memory
};
double scaled_ns(const LaunchPrice& price, const WorkRatio& ratio);
std::shared_ptr<const Quote> quote_of(std::shared_ptr<PricedLaunch> launch, WorkRatio ratio);

} // namespace kernevo::cuda
