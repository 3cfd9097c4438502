#include "kernevo/search/counter_model.h"
#include "kernevo/search/extra_trees.h"
#include "kernevo/search/features.h"
#include "kernevo/search/gaussian_process.h"
#include "kernevo/search/prior_mean.h"
#include "kernevo/search/strategy.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kernevo::search {

namespace {

// Points that fill the space before a model is asked: fewer leave it blind, more waste the budget.
constexpr std::size_t kInitial = 8;
constexpr std::size_t kInitialDraws = 5; // of which the one farthest from all others is taken
// With a prior the first points are the ones it likes, taken far from each other.
constexpr std::size_t kInitialWithPrior = 5;
constexpr std::size_t kLeastMeasured = 3;

constexpr std::size_t kParents = 5;      // whose neighbours are candidates
constexpr std::size_t kRandom = 500;     // further candidates anywhere
constexpr std::size_t kFromPrior = 200;  // further candidates that the prior likes
constexpr std::size_t kMaxNear = 400;    // neighbours considered, of long value lists
constexpr std::size_t kMaxProcess = 200; // data points of the Gaussian process
constexpr ExtraTrees::Options kForest{.trees = 30, .tried_features = 0.4};
constexpr ExtraTrees::Options kFailureForest{.trees = 20, .tried_features = 0.4};
// Proposals next to a pending one are put off while others promise at least this share.
constexpr double kPendingShare = 0.3;

int chain_steps(std::size_t measured) {
  // Each step factors a matrix; later fits start from a chain that has settled.
  if (measured < 30)
    return 20;
  if (measured < 60)
    return 10;
  return measured < 120 ? 5 : 2;
}

double expected_improvement(double best, Estimate estimate) {
  const double deviation = std::sqrt(estimate.variance);
  const double gap = best - estimate.mean;
  if (deviation < 1e-9)
    return std::max(0.0, gap);
  const double z = gap / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return gap * below + deviation * density;
}

// Half the forest, half the process: on recorded spaces each is best on some, and their mixture on
// more than either.
Estimate mixture(Estimate a, Estimate b) {
  const double mean = 0.5 * (a.mean + b.mean);
  const double spread = 0.5 * (a.mean - b.mean);
  return {mean, 0.5 * (a.variance + b.variance) + spread * spread};
}

class ModelSearch final : public Strategy {
public:
  ModelSearch(const SearchSpace& space, const Prior& prior)
      : space_(&space), features_(space), prior_(space, features_, prior), process_(space) {}

  std::string_view name() const override { return "model"; }

  void learn(const SearchHistory& history, RandomStream& random) override {
    std::vector<const Trial*> measured;
    for (const Trial& trial : history.trials())
      if (trial.time)
        measured.push_back(&trial);
    failed_ = measured.size() < history.trials().size();
    if (failed_)
      learn_failures(history, random);
    if (measured.size() >= kLeastMeasured)
      learn_times(measured, random);
  }

  std::optional<Configuration> propose(const SearchHistory& history,
                                       RandomStream& random) const override {
    if (prior_.present() && history.seen_count() < kInitialWithPrior)
      return spread(history, predicted_fast(history));
    if (forest_.empty() || (!prior_.present() && history.seen_count() < kInitial))
      return spread(history, random_draws(history, kInitialDraws, random));
    const std::vector<Configuration> candidates = make_candidates(history, random);
    const std::vector<double> scores = score(candidates);
    return choose(history, candidates, scores);
  }

private:
  std::size_t columns() const {
    return features_.count() + (prior_.present() ? 1 : 0) + counters_.count();
  }

  // Features, then the prior, then guessed counters.
  void write_sample(Configuration configuration, std::span<float> out) const {
    features_.write(configuration, out.first(features_.count()));
    std::size_t at = features_.count();
    if (prior_.present())
      out[at++] = prior_.logarithm(configuration);
    counters_.write(out.first(at), out.subspan(at));
  }

  void learn_failures(const SearchHistory& history, RandomStream& random) {
    std::vector<float> samples(history.trials().size() * features_.count());
    std::vector<double> targets;
    for (std::size_t i = 0; i < history.trials().size(); ++i) {
      features_.write(history.trials()[i].configuration,
                      std::span(samples).subspan(i * features_.count(), features_.count()));
      targets.push_back(history.trials()[i].time ? 0.0 : 1.0);
    }
    failures_.fit(samples, features_.count(), targets, kFailureForest.trees, random);
  }

  void learn_times(const std::vector<const Trial*>& measured, RandomStream& random) {
    std::vector<Configuration> points;
    std::vector<double> targets;
    for (const Trial* trial : measured) {
      points.push_back(trial->configuration);
      targets.push_back(std::log(trial->time->value));
    }
    prior_.fit(points, targets);
    best_ = *std::min_element(targets.begin(), targets.end());
    centre_ = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      targets[i] -= prior_(points[i]);
      centre_ += targets[i] / static_cast<double>(points.size());
    }
    for (double& target : targets)
      target -= centre_;

    const std::size_t base = features_.count() + (prior_.present() ? 1 : 0);
    counters_ = {};
    std::vector<float> plain(points.size() * base);
    for (std::size_t i = 0; i < points.size(); ++i)
      write_sample(points[i], std::span(plain).subspan(i * base, base));
    counters_.fit(measured, plain, base, random);
    std::vector<float> samples(points.size() * columns());
    for (std::size_t i = 0; i < points.size(); ++i)
      write_sample(points[i], std::span(samples).subspan(i * columns(), columns()));
    forest_.fit(samples, columns(), targets, kForest.trees, random);

    keep_for_process(points, targets);
    process_.fit(points, targets, chain_steps(points.size()), random);
  }

  // Its cost grows with the cube of the points: the fastest half, and the rest thinned evenly.
  static void keep_for_process(std::vector<Configuration>& points, std::vector<double>& targets) {
    if (points.size() <= kMaxProcess)
      return;
    std::vector<std::size_t> order(points.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return targets[a] < targets[b]; });
    std::vector<Configuration> kept_points;
    std::vector<double> kept_targets;
    const std::size_t half = kMaxProcess / 2;
    for (std::size_t i = 0; i < kMaxProcess; ++i) {
      const std::size_t at =
          order[i < half ? i : half + (i - half) * (order.size() - half) / (kMaxProcess - half)];
      kept_points.push_back(points[at]);
      kept_targets.push_back(targets[at]);
    }
    points = std::move(kept_points);
    targets = std::move(kept_targets);
  }

  // City-block distance between places in the value lists, each parameter counting up to 1.
  double distance(Configuration a, Configuration b) const {
    const auto left = space_->row(a);
    const auto right = space_->row(b);
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double range =
          std::max<double>(1, static_cast<double>(space_->parameters()[i].values.size()) - 1);
      sum += std::abs(static_cast<double>(space_->rank(i, left[i])) -
                      static_cast<double>(space_->rank(i, right[i]))) /
             range;
    }
    return sum;
  }

  // The one farthest from everything seen.
  std::optional<Configuration> spread(const SearchHistory& history,
                                      const std::vector<Configuration>& draws) const {
    std::optional<Configuration> chosen;
    double chosen_distance = -1;
    for (const Configuration draw : draws) {
      double nearest = std::numeric_limits<double>::max();
      for (const Trial& trial : history.trials())
        nearest = std::min(nearest, distance(draw, trial.configuration));
      for (const Configuration pending : history.pending())
        nearest = std::min(nearest, distance(draw, pending));
      if (nearest > chosen_distance) {
        chosen = draw;
        chosen_distance = nearest;
      }
    }
    return chosen;
  }

  static std::vector<Configuration> random_draws(const SearchHistory& history, std::size_t count,
                                                 RandomStream& random) {
    std::vector<Configuration> draws;
    for (std::size_t i = 0; i < count; ++i)
      if (const auto draw = random_unseen(history, random))
        draws.push_back(*draw);
    return draws;
  }

  // The fastest alone at first, then ever more of the fast ones to choose from.
  std::vector<Configuration> predicted_fast(const SearchHistory& history) const {
    std::vector<Configuration> found;
    const std::size_t wanted = 1 + 5 * history.seen_count();
    for (const Configuration configuration : prior_.fastest())
      if (found.size() < wanted && !history.seen(configuration))
        found.push_back(configuration);
    return found;
  }

  std::vector<Configuration> make_candidates(const SearchHistory& history,
                                             RandomStream& random) const {
    std::vector<Configuration> found;
    for (const std::size_t at : history.fastest(kParents))
      for (const Configuration near :
           space_->hamming_neighbours(history.trials()[at].configuration))
        found.push_back(near);
    // A list of a thousand values would leave no time for anything else.
    for (std::size_t i = found.size(); i > kMaxNear; --i) {
      std::swap(found[random.below(i)], found[i - 1]);
      found.pop_back();
    }
    for (std::size_t i = 0; i < kRandom; ++i)
      found.push_back(random.below(space_->size()));
    for (std::size_t i = 0; i < std::min(kFromPrior, prior_.fastest().size()); ++i)
      found.push_back(prior_.fastest()[i]);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::erase_if(found, [&](Configuration c) { return history.seen(c); });
    return found;
  }

  std::vector<double> score(const std::vector<Configuration>& candidates) const {
    std::vector<double> scores;
    const std::vector<Estimate> smooth = process_.predict(candidates);
    std::vector<float> sample(columns());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      write_sample(candidates[i], sample);
      Estimate estimate = mixture(forest_.predict(sample), smooth[i]);
      estimate.mean += centre_ + prior_(candidates[i]);
      double value = expected_improvement(best_, estimate);
      if (failed_)
        value *=
            1 - failures_.predict(std::span<const float>(sample).first(features_.count())).mean;
      scores.push_back(value);
    }
    return scores;
  }

  std::optional<Configuration> choose(const SearchHistory& history,
                                      const std::vector<Configuration>& candidates,
                                      const std::vector<double>& scores) const {
    if (candidates.empty())
      return std::nullopt;
    const auto top = std::max_element(scores.begin(), scores.end());
    const Configuration best = candidates[static_cast<std::size_t>(top - scores.begin())];
    if (history.pending().empty())
      return best;
    // The answer of a pending neighbour would change this score most: look elsewhere meanwhile.
    std::optional<Configuration> other;
    double other_score = kPendingShare * *top;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (scores[i] <= other_score || near_pending(history, candidates[i]))
        continue;
      other = candidates[i];
      other_score = scores[i];
    }
    return other ? other : best;
  }

  bool near_pending(const SearchHistory& history, Configuration configuration) const {
    const auto row = space_->row(configuration);
    return std::any_of(history.pending().begin(), history.pending().end(), [&](Configuration p) {
      const auto other = space_->row(p);
      std::size_t differences = 0;
      for (std::size_t i = 0; i < row.size(); ++i)
        differences += row[i] != other[i] ? 1 : 0;
      return differences <= 1;
    });
  }

  const SearchSpace* space_;
  Features features_;
  PriorMean prior_;
  GaussianProcess process_;
  ExtraTrees forest_{kForest};
  ExtraTrees failures_{kFailureForest};
  CounterModel counters_;
  bool failed_ = false; // some trial did
  double best_ = 0;     // logarithm of the shortest time
  double centre_ = 0;   // mean of the targets
};

} // namespace

std::unique_ptr<Strategy> make_model_search(const SearchSpace& space, const Prior& prior) {
  return std::make_unique<ModelSearch>(space, prior);
}

} // namespace kernevo::search
