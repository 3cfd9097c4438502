// Extremely randomised trees (Geurts et al. 2006): regression that needs no tuning, takes features
// of any scale, and says how much its trees disagree.
#pragma once

#include "kernevo/search/random_stream.h"

#include <span>
#include <vector>

namespace kernevo::search {

struct Estimate {
  double mean = 0;
  double variance = 0;
};

class ExtraTrees {
public:
  struct Options {
    std::size_t trees = 30;
    double tried_features = 0.4; // of all, at each split
  };

  explicit ExtraTrees(Options options) : options_(options) {}

  // `samples` has one row of `features` numbers for each target. Fits `fresh` of the trees anew and
  // keeps the others as they are; all of them when not all exist.
  void fit(std::span<const float> samples, std::size_t features, std::span<const double> targets,
           std::size_t fresh, RandomStream& random);
  Estimate predict(std::span<const float> sample) const;
  bool empty() const { return trees_.empty(); }

private:
  struct Node {
    int feature = -1; // of the split; -1 is a leaf
    float threshold = 0;
    int right = 0; // the left child stands next to its parent
    float mean = 0;
    float variance = 0;
  };
  using Tree = std::vector<Node>;
  class Grower;

  Options options_;
  std::vector<Tree> trees_;
  std::size_t oldest_ = 0;
};

} // namespace kernevo::search
