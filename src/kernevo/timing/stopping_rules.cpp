#include "kernevo/timing/stopping_rules.h"

#include "kernevo/base/random.h"
#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace kernevo {
namespace {

// A rule that sorts or resamples looks only when the series has grown by a tenth since, so that the
// looks together cost about as much as ten looks at the end. The answer holds until the next look.
class SeriesRule : public StoppingRule {
public:
  void add(double sample) override { samples_.push_back(sample); }
  bool finished() final {
    if (samples_.size() >= next_look_) {
      finished_ = look();
      next_look_ = samples_.size() + std::max<std::size_t>(1, samples_.size() / 10);
    }
    return finished_;
  }

protected:
  const std::vector<double>& samples() const { return samples_; }

private:
  virtual bool look() = 0;

  std::vector<double> samples_;
  std::size_t next_look_ = 1;
  bool finished_ = false;
};

class MedianIntervalRule final : public SeriesRule {
public:
  explicit MedianIntervalRule(const RuleParameters& parameters)
      : width_(parameters.at("width")), confidence_(parameters.at("confidence")) {}

private:
  bool look() override {
    const MedianInterval seen =
        median_interval(samples(), confidence_, autocorrelation_time(samples()));
    return seen.confidence >= confidence_ && seen.high - seen.low <= 2 * width_ * seen.median;
  }

  double width_;
  double confidence_;
};

class BootstrapRule final : public SeriesRule {
public:
  explicit BootstrapRule(const RuleParameters& parameters)
      : width_(parameters.at("width")), confidence_(parameters.at("confidence")),
        resamples_(static_cast<std::size_t>(parameters.at("resamples"))),
        random_(static_cast<std::uint64_t>(parameters.at("seed"))) {}

private:
  // Below this many samples a bootstrapped interval of the median is far too narrow.
  static constexpr std::size_t kLeast = 10;

  bool look() override {
    const std::vector<double>& series = samples();
    const std::size_t n = series.size();
    if (n < kLeast)
      return false;
    // Stretches long enough to keep the dependence between neighbours.
    const auto stretch =
        std::clamp(static_cast<std::size_t>(std::ceil(2 * autocorrelation_time(series))),
                   std::size_t{1}, n / 2);
    std::vector<double> medians(resamples_);
    std::vector<double> draw(n);
    for (double& median : medians) {
      for (std::size_t i = 0; i < n; i += stretch) {
        const std::size_t from = random_.bits(draws_++) % n; // circular
        for (std::size_t j = i; j < std::min(n, i + stretch); ++j)
          draw[j] = series[(from + j - i) % n];
      }
      median = median_of(draw);
    }
    std::ranges::sort(medians);
    const auto cut =
        static_cast<std::size_t>(0.5 * (1 - confidence_) * static_cast<double>(resamples_));
    return medians[resamples_ - 1 - cut] - medians[cut] <= 2 * width_ * median_of(series);
  }

  double width_;
  double confidence_;
  std::size_t resamples_;
  CounterRandom random_;
  std::uint64_t draws_ = 0;
};

class RelativeNoiseRule final : public StoppingRule {
public:
  explicit RelativeNoiseRule(const RuleParameters& parameters)
      : noise_(parameters.at("noise")), stability_(parameters.at("stability")),
        window_(static_cast<std::size_t>(parameters.at("window"))) {}

  void add(double sample) override {
    ++count_;
    const double step = sample - mean_;
    mean_ += step / static_cast<double>(count_);
    squares_ += step * (sample - mean_);
    if (count_ < kLeast)
      return;
    recent_.push_back(std::sqrt(squares_ / static_cast<double>(count_ - 1)) / mean_);
    if (recent_.size() > window_)
      recent_.pop_front();
  }

  bool finished() override {
    if (recent_.empty())
      return false;
    if (recent_.back() <= noise_)
      return true;
    // More samples will not lower noise that is the kernel's own.
    if (recent_.size() < window_)
      return false;
    const auto [least, most] = std::ranges::minmax_element(recent_);
    return *most - *least <= stability_ * recent_.back();
  }

private:
  // A standard deviation of fewer samples is mostly chance.
  static constexpr std::uint64_t kLeast = 10;

  double noise_;
  double stability_;
  std::size_t window_;
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  std::deque<double> recent_;
};

class EntropyRule final : public StoppingRule {
public:
  explicit EntropyRule(const RuleParameters& parameters)
      : slope_(parameters.at("slope")), bin_(std::log1p(parameters.at("bin"))),
        window_(static_cast<std::size_t>(parameters.at("window"))) {}

  void add(double sample) override {
    ++count_;
    auto& bin = bins_[std::llround(std::log(sample) / bin_)];
    weighted_ -= term(bin);
    weighted_ += term(++bin);
    const auto total = static_cast<double>(count_);
    recent_.push_back(std::log2(total) - weighted_ / total);
    if (recent_.size() > window_)
      recent_.pop_front();
  }

  bool finished() override {
    if (recent_.size() < window_)
      return false;
    const double middle = 0.5 * static_cast<double>(window_ - 1);
    double products = 0;
    double squares = 0;
    for (std::size_t i = 0; i < window_; ++i) {
      const double x = static_cast<double>(i) - middle;
      products += x * recent_[i];
      squares += x * x;
    }
    return std::abs(products / squares) <= slope_;
  }

private:
  // Sum of n log2 n over the bins gives the entropy without visiting them.
  static double term(std::uint64_t n) {
    return n == 0 ? 0 : static_cast<double>(n) * std::log2(static_cast<double>(n));
  }

  double slope_;
  double bin_;
  std::size_t window_;
  std::uint64_t count_ = 0;
  double weighted_ = 0;
  std::map<long long, std::uint64_t> bins_;
  std::deque<double> recent_;
};

class SampleCountRule final : public StoppingRule {
public:
  explicit SampleCountRule(double samples) : left_(samples) {}
  void add(double) override { --left_; }
  bool finished() override { return left_ <= 0; }

private:
  double left_;
};

} // namespace

std::unique_ptr<StoppingRule> make_median_interval_rule(const RuleParameters& parameters) {
  return std::make_unique<MedianIntervalRule>(parameters);
}

std::unique_ptr<StoppingRule> make_bootstrap_rule(const RuleParameters& parameters) {
  return std::make_unique<BootstrapRule>(parameters);
}

std::unique_ptr<StoppingRule> make_relative_noise_rule(const RuleParameters& parameters) {
  return std::make_unique<RelativeNoiseRule>(parameters);
}

std::unique_ptr<StoppingRule> make_entropy_rule(const RuleParameters& parameters) {
  return std::make_unique<EntropyRule>(parameters);
}

std::unique_ptr<StoppingRule> make_sample_count_rule(const RuleParameters& parameters) {
  return std::make_unique<SampleCountRule>(parameters.at("samples"));
}

} // namespace kernevo
