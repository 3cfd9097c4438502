#include "kernevo/search/gaussian_process.h"

#include "kernevo/search/features.h"

#include <algorithm>
#include <cmath>

namespace kernevo::search {

namespace {

constexpr std::size_t kLeastForAlignment = 4;
// The priors. A length of 1 is the whole range of a parameter; distances add up over the
// parameters, so lengths grow with the root of their number.
constexpr double kLength = 0.4;
constexpr double kAlignmentLength = 1.0;
constexpr double kAlignmentRange = 4.0;
constexpr double kAdditive = -0.5;
constexpr double kNoise = 2e-3; // of the variance of the data
constexpr double kJitter = 1e-6;
// Inverse-gamma prior on the scale, equivalent to four observations of variance one.
constexpr double kScaleShape = 2.0;
// A step of the chain moves about three hyperparameters by about a factor of two.
constexpr double kStepParameters = 3.0;
constexpr double kStepSize = 0.7;
// Candidates are solved for in blocks that fit the first-level cache.
constexpr std::size_t kBlock = 32;

} // namespace

GaussianProcess::GaussianProcess(const SearchSpace& space) : space_(&space) {
  const std::vector<Parameter>& parameters = space.parameters();
  const double root = std::sqrt(static_cast<double>(parameters.size()));
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::vector<std::int64_t>& values = parameters[p].values;
    if (values.size() < 2)
      continue;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const bool positive = *least > 0 && *most > *least;
    const double range =
        positive ? std::log2(static_cast<double>(*most) / static_cast<double>(*least)) : 1;
    Dimension position{p, {}};
    Dimension alignment{p, {}};
    for (std::size_t v = 0; v < values.size(); ++v) {
      const double rank = static_cast<double>(space.rank(p, static_cast<std::uint16_t>(v))) /
                          static_cast<double>(values.size() - 1);
      // Between the place in the list and the logarithm: lists are neither always geometric nor
      // always even.
      const double logarithm =
          positive ? std::log2(static_cast<double>(values[v]) / static_cast<double>(*least)) / range
                   : rank;
      position.coordinate.push_back(static_cast<float>(0.5 * (rank + logarithm)));
      alignment.coordinate.push_back(alignment_of(values[v]) / static_cast<float>(kAlignmentRange));
    }
    dimensions_.push_back(std::move(position));
    prior_.log_length.push_back(std::log(kLength * root));
    if (positive && values.size() >= kLeastForAlignment && parameters[p].labels.empty()) {
      dimensions_.push_back(std::move(alignment));
      prior_.log_length.push_back(std::log(kAlignmentLength * root));
    }
  }
  prior_.additive = kAdditive;
  prior_.log_noise = std::log(kNoise);
  current_ = prior_;
}

void GaussianProcess::place(std::span<const Configuration> points) {
  count_ = points.size();
  data_.resize(dimensions_.size() * count_);
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    for (std::size_t i = 0; i < count_; ++i)
      data_[d * count_ + i] =
          dimensions_[d].coordinate[space_->row(points[i])[dimensions_[d].parameter]];
}

void GaussianProcess::use(const Hyperparameters& hyperparameters) {
  inverse_length_.clear();
  for (const double length : hyperparameters.log_length)
    inverse_length_.push_back(static_cast<float>(std::exp(-length)));
  additive_ = static_cast<float>(1 / (1 + std::exp(-hyperparameters.additive)));
  noise_ = std::exp(hyperparameters.log_noise) + kJitter;
}

GaussianProcess::Hyperparameters GaussianProcess::perturbed(RandomStream& random) const {
  Hyperparameters next = current_;
  const double chance = kStepParameters / static_cast<double>(next.log_length.size() + 2);
  auto step = [&](double& value) {
    if (random.uniform() < chance)
      value += kStepSize * random.normal();
  };
  for (double& length : next.log_length)
    step(length);
  step(next.additive);
  step(next.log_noise);
  return next;
}

double GaussianProcess::log_prior(const Hyperparameters& hyperparameters) const {
  auto term = [](double value, double centre) {
    return -0.5 * (value - centre) * (value - centre);
  };
  double sum = term(hyperparameters.additive, prior_.additive) +
               term(hyperparameters.log_noise, prior_.log_noise);
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    sum += term(hyperparameters.log_length[d], prior_.log_length[d]);
  return sum;
}

// Rational quadratic: smooth at every scale at once, and without an exponential it runs over
// vectors.
void GaussianProcess::covariance(std::span<const float> point, std::size_t count,
                                 std::span<float> out, std::span<float> scratch) const {
  float* const distance = out.data();
  float* const one = scratch.data();
  float* const effects = scratch.data() + count;
  std::fill_n(distance, count, 0.0F);
  std::fill_n(effects, count, 0.0F);
  const auto parameters = static_cast<float>(space_->parameters().size());
  float terms = 0;
  for (std::size_t d = 0; d < dimensions_.size();) {
    std::fill_n(one, count, 0.0F);
    const std::size_t parameter = dimensions_[d].parameter;
    for (; d < dimensions_.size() && dimensions_[d].parameter == parameter; ++d) {
      const float* column = data_.data() + d * count_;
      const float at = point[d];
      const float scale = inverse_length_[d];
      for (std::size_t i = 0; i < count; ++i) {
        const float difference = (column[i] - at) * scale;
        one[i] += difference * difference;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      distance[i] += one[i];
      effects[i] += 1.0F / (1.0F + parameters * one[i]);
    }
    terms += 1;
  }
  const float effect_weight = additive_ / std::max(1.0F, terms);
  for (std::size_t i = 0; i < count; ++i) {
    const float root = 1.0F / (1.0F + distance[i] * (1.0F / 3.0F));
    out[i] = (1.0F - additive_) * root * root + effect_weight * effects[i];
  }
}

bool GaussianProcess::condition(Posterior& posterior) const {
  const std::size_t n = count_;
  std::vector<double>& lower = posterior.lower;
  lower.assign(n * n, 0.0);
  std::vector<float> point(dimensions_.size());
  std::vector<float> row(n);
  std::vector<float> scratch(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      point[d] = data_[d * n + i];
    covariance(point, i + 1, row, scratch);
    std::copy_n(row.begin(), i + 1, lower.begin() + static_cast<std::ptrdiff_t>(i * n));
    lower[i * n + i] += noise_;
  }
  // Right-looking, so that the inner loop is a vector update and not a sum.
  std::vector<double> column(n);
  double log_determinant = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double pivot = lower[j * n + j];
    if (!(pivot > 1e-12))
      return false;
    const double root = std::sqrt(pivot);
    log_determinant += std::log(root);
    for (std::size_t i = j; i < n; ++i)
      column[i] = lower[i * n + j] /= root;
    for (std::size_t i = j + 1; i < n; ++i) {
      const double factor = column[i];
      double* target = lower.data() + i * n;
      for (std::size_t k = j + 1; k <= i; ++k)
        target[k] -= factor * column[k];
    }
  }
  std::vector<double>& weights = posterior.weights;
  weights = targets_;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      weights[i] -= lower[i * n + k] * weights[k];
    weights[i] /= lower[i * n + i];
    squares += weights[i] * weights[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    weights[i] /= lower[i * n + i];
    for (std::size_t k = 0; k < i; ++k)
      weights[k] -= lower[i * n + k] * weights[i];
  }
  const double freedom = static_cast<double>(n) + 2 * kScaleShape;
  posterior.scale = (squares + 2 * kScaleShape) / freedom;
  posterior.log_density = -0.5 * freedom * std::log(squares + 2 * kScaleShape) - log_determinant;
  return true;
}

void GaussianProcess::fit(std::span<const Configuration> points, std::span<const double> targets,
                          int steps, RandomStream& random) {
  place(points);
  mean_ = 0;
  for (const double target : targets)
    mean_ += target / static_cast<double>(targets.size());
  double variance = 0;
  for (const double target : targets)
    variance += (target - mean_) * (target - mean_) / static_cast<double>(targets.size());
  deviation_ = std::sqrt(variance) + 1e-9;
  targets_.clear();
  for (const double target : targets)
    targets_.push_back((target - mean_) / deviation_);

  use(current_);
  // The prior always conditions: its noise is far above rounding.
  if (!condition(posterior_)) {
    current_ = prior_;
    use(current_);
    condition(posterior_);
  }
  double density = posterior_.log_density + log_prior(current_);
  for (int i = 0; i < steps; ++i) {
    const Hyperparameters next = perturbed(random);
    use(next);
    Posterior proposed;
    if (!condition(proposed))
      continue;
    const double proposed_density = proposed.log_density + log_prior(next);
    if (std::log(1 - random.uniform()) < proposed_density - density) {
      current_ = next;
      posterior_ = std::move(proposed);
      density = proposed_density;
    }
  }
  use(current_);
}

std::vector<Estimate> GaussianProcess::predict(std::span<const Configuration> points) const {
  std::vector<Estimate> estimates;
  const std::size_t n = count_;
  std::vector<float> point(dimensions_.size());
  std::vector<float> row(n);
  std::vector<float> scratch(2 * n);
  std::vector<float> block(n * kBlock); // [data point][candidate]
  for (std::size_t begin = 0; begin < points.size(); begin += kBlock) {
    const std::size_t width = std::min(kBlock, points.size() - begin);
    for (std::size_t c = 0; c < width; ++c) {
      for (std::size_t d = 0; d < dimensions_.size(); ++d)
        point[d] =
            dimensions_[d].coordinate[space_->row(points[begin + c])[dimensions_[d].parameter]];
      covariance(point, n, row, scratch);
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) {
        mean += row[i] * posterior_.weights[i];
        block[i * kBlock + c] = row[i];
      }
      estimates.push_back({mean_ + deviation_ * mean, 0});
    }
    std::array<float, kBlock> explained{};
    for (std::size_t i = 0; i < n; ++i) {
      float* const solved = block.data() + i * kBlock;
      const double* const lower = posterior_.lower.data() + i * n;
      for (std::size_t k = 0; k < i; ++k) {
        const auto factor = static_cast<float>(lower[k]);
        const float* const earlier = block.data() + k * kBlock;
        for (std::size_t c = 0; c < kBlock; ++c)
          solved[c] -= factor * earlier[c];
      }
      const auto inverse = static_cast<float>(1 / lower[i]);
      for (std::size_t c = 0; c < kBlock; ++c) {
        solved[c] *= inverse;
        explained[c] += solved[c] * solved[c];
      }
    }
    for (std::size_t c = 0; c < width; ++c)
      estimates[begin + c].variance =
          std::max(1e-8, (1.0 - static_cast<double>(explained[c])) * posterior_.scale) *
          deviation_ * deviation_;
  }
  return estimates;
}

} // namespace kernevo::search
