#include "kernevo/search/strategy.h"

namespace kernevo::search {

namespace {

constexpr std::size_t kPopulation = 20;
constexpr int kTries = 40;

// Steady state: the population is the best twenty of all that was tried, and every proposal is a
// child of two of them. No generation to wait for.
class EvolutionarySearch final : public Strategy {
public:
  std::string_view name() const override { return "evolutionary"; }

  void learn(const SearchHistory& history, RandomStream&) override {
    population_.clear();
    for (const std::size_t at : history.fastest(kPopulation))
      population_.push_back(history.trials()[at].configuration);
  }

  std::optional<Configuration> propose(const SearchHistory& history,
                                       RandomStream& random) const override {
    if (history.seen_count() < kPopulation || population_.size() < 2)
      return random_unseen(history, random);
    for (int attempt = 0; attempt < kTries; ++attempt)
      if (const auto child = make_child(history.space(), random); child && !history.seen(*child))
        return child;
    // A population that has converged: look around one of its members.
    const Configuration parent = population_[random.below(population_.size())];
    std::vector<Configuration> near = history.space().hamming_neighbours(parent);
    std::erase_if(near, [&](Configuration c) { return history.seen(c); });
    if (near.empty())
      return std::nullopt;
    return near[random.below(near.size())];
  }

private:
  // The better of two draws: the population is sorted.
  Configuration select(RandomStream& random) const {
    return population_[std::min(random.below(population_.size()),
                                random.below(population_.size()))];
  }

  std::optional<Configuration> make_child(const SearchSpace& space, RandomStream& random) const {
    const auto mother = space.row(select(random));
    const auto father = space.row(select(random));
    std::vector<std::uint16_t> child;
    const double rate = 1.0 / static_cast<double>(mother.size());
    for (std::size_t i = 0; i < mother.size(); ++i) {
      const std::size_t count = space.parameters()[i].values.size();
      std::uint16_t value = random.uniform() < 0.5 ? mother[i] : father[i];
      if (random.uniform() < rate)
        value = static_cast<std::uint16_t>(random.below(count));
      child.push_back(value);
    }
    return space.find(child);
  }

  std::vector<Configuration> population_;
};

} // namespace

std::unique_ptr<Strategy> make_evolutionary_search(const SearchSpace&, const Prior&) {
  return std::make_unique<EvolutionarySearch>();
}

} // namespace kernevo::search
