// Guesses the counters of configurations not yet run from those that were, so that a model of the
// time can split on "bytes moved" and not only on tile sizes.
#pragma once

#include "kernevo/search/extra_trees.h"
#include "kernevo/search/history.h"

#include <string>
#include <vector>

namespace kernevo::search {

class CounterModel {
public:
  // Chooses the counters that order the trials most like their time does, and fits each.
  // `samples` has one row of `features` numbers for each of `trials`.
  void fit(const std::vector<const Trial*>& trials, std::span<const float> samples,
           std::size_t features, RandomStream& random);
  std::size_t count() const { return forests_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  // Writes count() numbers.
  void write(std::span<const float> sample, std::span<float> out) const;

private:
  std::vector<std::string> names_;
  std::vector<ExtraTrees> forests_;
};

} // namespace kernevo::search
