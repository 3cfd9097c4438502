#include "kernevo/search/history.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace kernevo::search {

namespace {

struct OutcomeName {
  Outcome outcome;
  std::string_view name;
};

constexpr std::array kOutcomes = {
    OutcomeName{Outcome::ok, "ok"},           OutcomeName{Outcome::resources, "resources"},
    OutcomeName{Outcome::compile, "compile"}, OutcomeName{Outcome::run, "run"},
    OutcomeName{Outcome::timeout, "timeout"}, OutcomeName{Outcome::wrong, "wrong"},
    OutcomeName{Outcome::failed, "failed"},
};

} // namespace

std::string_view name_of(Outcome outcome) {
  return std::find_if(kOutcomes.begin(), kOutcomes.end(),
                      [&](const OutcomeName& entry) { return entry.outcome == outcome; })
      ->name;
}

std::optional<Outcome> outcome_named(std::string_view name) {
  for (const OutcomeName& entry : kOutcomes)
    if (entry.name == name)
      return entry.outcome;
  return std::nullopt;
}

std::vector<std::size_t> SearchHistory::fastest(std::size_t count) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trials_.size(); ++i)
    if (trials_[i].time)
      order.push_back(i);
  count = std::min(count, order.size());
  // Equal times in the order they were told, so that a search does not depend on the library.
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return trials_[a].time != trials_[b].time ? trials_[a].time < trials_[b].time
                                                                : a < b;
                    });
  order.resize(count);
  return order;
}

void SearchHistory::ask(Configuration configuration) {
  if (seen_.insert(configuration).second)
    pending_.push_back(configuration);
}

bool SearchHistory::tell(Trial trial) {
  assert(trial.configuration < space_->size());
  assert((trial.outcome == Outcome::ok) == trial.time.has_value());
  std::erase(pending_, trial.configuration);
  seen_.insert(trial.configuration);
  if (!told_.insert(trial.configuration).second)
    return false;
  trials_.push_back(std::move(trial));
  const Trial& added = trials_.back();
  if (added.time && (best() == nullptr || *added.time < *best()->time))
    best_ = trials_.size() - 1;
  return true;
}

std::optional<Configuration> random_unseen(const SearchHistory& history, RandomStream& random) {
  const std::size_t size = history.space().size();
  if (history.seen_count() >= size)
    return std::nullopt;
  // Half of the space unseen: two draws on average. Later draw among those that are left.
  if (history.seen_count() * 2 <= size)
    for (;;)
      if (const Configuration drawn = random.below(size); !history.seen(drawn))
        return drawn;
  std::size_t skip = random.below(size - history.seen_count());
  for (Configuration configuration = 0; configuration < size; ++configuration)
    if (!history.seen(configuration) && skip-- == 0)
      return configuration;
  return std::nullopt;
}

} // namespace kernevo::search
