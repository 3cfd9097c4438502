#include "kernevo/search/search.h"

#include <fmt/format.h>

namespace kernevo::search {

namespace {

constexpr std::uint64_t kLearning = 1;
constexpr std::uint64_t kProposing = 2;
constexpr std::uint64_t kDrawing = 3;
// More proposals than this are never pending at once.
constexpr std::uint64_t kMaxPending = 1U << 20U;

} // namespace

Result<Search> Search::create(const SearchSpace& space, SearchOptions options) {
  if (!options.prior.predicted.empty() && options.prior.predicted.size() != space.size())
    return fail(ErrorCode::usage, fmt::format("the prior has {} predictions for {} configurations",
                                              options.prior.predicted.size(), space.size()));
  for (const Configuration seed : options.seeds)
    if (seed >= space.size())
      return fail(ErrorCode::usage, fmt::format("configuration {} is outside the space", seed));
  KERNEVO_TRY(strategy, make_strategy(options.strategy, space, options.prior));
  return Search(space, std::move(options), std::move(strategy));
}

std::optional<Configuration> Search::ask() {
  if (history_.seen_count() >= history_.space().size())
    return std::nullopt;
  for (const Configuration seed : options_.seeds)
    if (!history_.seen(seed)) {
      history_.ask(seed);
      return seed;
    }
  const std::uint64_t step = history_.trials().size() * kMaxPending + history_.pending().size();
  RandomStream random(options_.seed, kProposing, step);
  std::optional<Configuration> next = strategy_->propose(history_, random);
  if (!next || history_.seen(*next)) {
    RandomStream draw(options_.seed, kDrawing, step);
    next = random_unseen(history_, draw);
  }
  history_.ask(*next);
  return next;
}

void Search::tell(Trial trial) {
  if (!history_.tell(std::move(trial)))
    return;
  RandomStream random(options_.seed, kLearning, history_.trials().size());
  strategy_->learn(history_, random);
}

} // namespace kernevo::search
