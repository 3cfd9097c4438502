#include "kernevo/search/extra_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kernevo::search {

class ExtraTrees::Grower {
public:
  Grower(std::span<const float> samples, std::size_t features, std::span<const double> targets,
         std::size_t tries, RandomStream& random)
      : features_(features), targets_(targets), tries_(tries), random_(random),
        columns_(samples.size()), order_(targets.size()), values_(targets.size()) {
    // Splits read one feature of many samples.
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (std::size_t f = 0; f < features; ++f)
        columns_[f * targets.size() + i] = samples[i * features + f];
  }

  Tree grow() {
    tree_.clear();
    std::iota(order_.begin(), order_.end(), 0);
    grow(0, order_.size());
    return std::move(tree_);
  }

private:
  struct Split {
    int feature = -1;
    float threshold = 0;
    double error = std::numeric_limits<double>::max();
  };

  void grow(std::size_t begin, std::size_t end) {
    const std::size_t at = tree_.size();
    tree_.emplace_back();
    const auto count = static_cast<double>(end - begin);
    double sum = 0;
    double squares = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += targets_[order_[i]];
      squares += targets_[order_[i]] * targets_[order_[i]];
    }
    const double variance = std::max(0.0, squares / count - sum * sum / (count * count));
    tree_[at].mean = static_cast<float>(sum / count);
    tree_[at].variance = static_cast<float>(variance);
    if (end - begin < 2 || variance < 1e-14)
      return;
    Split best;
    for (std::size_t i = 0; i < tries_; ++i)
      try_split(random_.below(features_), begin, end, sum, best);
    if (best.feature < 0)
      return;
    const float* column =
        columns_.data() + static_cast<std::size_t>(best.feature) * targets_.size();
    const auto middle =
        std::partition(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                       order_.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](std::uint32_t i) { return column[i] <= best.threshold; }) -
        order_.begin();
    tree_[at].feature = best.feature;
    tree_[at].threshold = best.threshold;
    grow(begin, static_cast<std::size_t>(middle));
    tree_[at].right = static_cast<int>(tree_.size());
    grow(static_cast<std::size_t>(middle), end);
  }

  // A random threshold between the least and the greatest value, kept when it is the best so far.
  void try_split(std::size_t feature, std::size_t begin, std::size_t end, double sum, Split& best) {
    const float* column = columns_.data() + feature * targets_.size();
    float least = column[order_[begin]];
    float most = least;
    for (std::size_t i = begin; i < end; ++i) {
      const float value = column[order_[i]];
      values_[i] = value;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    if (!(least < most))
      return;
    float threshold = least + (most - least) * static_cast<float>(random_.uniform());
    if (threshold >= most)
      threshold = least;
    double left_sum = 0;
    double left_count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double side = values_[i] <= threshold ? 1.0 : 0.0;
      left_sum += side * targets_[order_[i]];
      left_count += side;
    }
    const double right_sum = sum - left_sum;
    const double right_count = static_cast<double>(end - begin) - left_count;
    // The sum of squares is the same for every split.
    const double error = -left_sum * left_sum / left_count - right_sum * right_sum / right_count;
    if (error < best.error)
      best = {static_cast<int>(feature), threshold, error};
  }

  std::size_t features_;
  std::span<const double> targets_;
  std::size_t tries_;
  RandomStream& random_;
  std::vector<float> columns_; // [feature][sample]
  std::vector<std::uint32_t> order_;
  std::vector<float> values_;
  Tree tree_;
};

void ExtraTrees::fit(std::span<const float> samples, std::size_t features,
                     std::span<const double> targets, std::size_t fresh, RandomStream& random) {
  const auto tries =
      static_cast<std::size_t>(std::ceil(static_cast<double>(features) * options_.tried_features));
  Grower grower(samples, features, targets, std::max<std::size_t>(1, tries), random);
  if (trees_.size() < options_.trees) {
    trees_.resize(options_.trees);
    fresh = trees_.size();
  }
  for (std::size_t i = 0; i < std::min(fresh, trees_.size()); ++i) {
    trees_[oldest_] = grower.grow();
    oldest_ = (oldest_ + 1) % trees_.size();
  }
}

Estimate ExtraTrees::predict(std::span<const float> sample) const {
  double sum = 0;
  double squares = 0;
  double within = 0;
  for (const Tree& tree : trees_) {
    std::size_t at = 0;
    while (tree[at].feature >= 0)
      at = sample[static_cast<std::size_t>(tree[at].feature)] <= tree[at].threshold
               ? at + 1
               : static_cast<std::size_t>(tree[at].right);
    const double mean = tree[at].mean;
    sum += mean;
    squares += mean * mean;
    within += tree[at].variance;
  }
  const auto count = static_cast<double>(trees_.size());
  const double mean = sum / count;
  return {mean, std::max(0.0, squares / count - mean * mean) + within / count};
}

} // namespace kernevo::search
