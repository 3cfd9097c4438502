// A Gaussian process over the configurations of a space: smooth where the forest is stepped, and
// sure of itself only near what was measured.
#pragma once

#include "kernevo/search/extra_trees.h"
#include "kernevo/search/search_space.h"

namespace kernevo::search {

class GaussianProcess {
public:
  explicit GaussianProcess(const SearchSpace& space);

  // Takes `steps` steps of a Markov chain over the hyperparameters (it goes on from one fit to the
  // next), then conditions on the data.
  void fit(std::span<const Configuration> points, std::span<const double> targets, int steps,
           RandomStream& random);
  // One estimate a point.
  std::vector<Estimate> predict(std::span<const Configuration> points) const;

private:
  // One input of the kernel: a parameter's position on its scale, or its alignment.
  struct Dimension {
    std::size_t parameter = 0;
    std::vector<float> coordinate; // of each value
  };
  struct Hyperparameters {
    std::vector<double> log_length; // one per dimension
    double additive = 0;            // logit of the weight of the sum of one-parameter effects
    double log_noise = 0;
  };
  // The data seen through one setting of the hyperparameters.
  struct Posterior {
    std::vector<double> lower;   // Cholesky factor, n x n
    std::vector<double> weights; // inverse covariance times targets
    double scale = 1;            // variance of the function
    double log_density = 0;      // of the hyperparameters, up to a constant
  };

  void place(std::span<const Configuration> points);
  void use(const Hyperparameters& hyperparameters);
  Hyperparameters perturbed(RandomStream& random) const;
  double log_prior(const Hyperparameters& hyperparameters) const;
  bool condition(Posterior& posterior) const;
  // The kernel between one point and the first `count` data points.
  void covariance(std::span<const float> point, std::size_t count, std::span<float> out,
                  std::span<float> scratch) const;

  const SearchSpace* space_;
  std::vector<Dimension> dimensions_;
  Hyperparameters prior_;
  Hyperparameters current_;
  Posterior posterior_;

  std::size_t count_ = 0;
  std::vector<float> data_;     // [dimension][point], unscaled
  std::vector<double> targets_; // standardised
  double mean_ = 0;
  double deviation_ = 1;

  std::vector<float> inverse_length_; // one per dimension, of the hyperparameters in use
  float additive_ = 0;
  double noise_ = 0;
};

} // namespace kernevo::search
