// What a prior says before anything is measured, and how far to believe it after.
#pragma once

#include "kernevo/search/features.h"
#include "kernevo/search/strategy.h"

namespace kernevo::search {

class PriorMean {
public:
  // Configurations without a prediction get one from those that have it.
  PriorMean(const SearchSpace& space, const Features& features, const Prior& prior);

  bool present() const { return !logarithm_.empty(); }
  float logarithm(Configuration configuration) const { return logarithm_[configuration]; }
  // Fits offset and slope to the measured logarithms of times; near slope 1 while they are few.
  void fit(std::span<const Configuration> points, std::span<const double> log_times);
  // The expected logarithm of the time; 0 without a prior.
  double operator()(Configuration configuration) const {
    return present() ? offset_ + slope_ * static_cast<double>(logarithm_[configuration]) : 0;
  }
  // The configurations predicted fastest, fastest first.
  const std::vector<Configuration>& fastest() const { return fastest_; }

private:
  std::vector<float> logarithm_;
  std::vector<Configuration> fastest_;
  double offset_ = 0;
  double slope_ = 1;
};

} // namespace kernevo::search
