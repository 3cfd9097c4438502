#include "kernevo/search/strategy.h"

#include <algorithm>

namespace kernevo::search {

namespace {

// Descending from the best of ten random points instead of from one was worth 5 % of the optimum
// after 50 evaluations of recorded spaces.
constexpr std::size_t kStart = 10;
// A kick changes this many parameters of the best point: two are undone by one descent too often.
constexpr std::size_t kKick = 3;
constexpr int kKickTries = 50;

// First improvement over the one-parameter neighbours of the current point; at a local optimum the
// descent starts again from a changed copy of the best point.
class LocalSearch final : public Strategy {
public:
  std::string_view name() const override { return "local"; }

  void learn(const SearchHistory& history, RandomStream&) override {
    const Trial& last = history.trials().back();
    if (history.trials().size() <= kStart || kicked_) {
      // A kick moves to where it lands, better or not.
      if (history.trials().size() <= kStart)
        current_ = history.best();
      else if (last.time)
        current_ = &last;
    } else if (last.time && (current_.empty() || *last.time < current_.time)) {
      current_ = &last;
    }
    kicked_ = !current_.empty() && history.trials().size() >= kStart &&
              unseen_neighbours(history, current_.configuration).empty();
  }

  std::optional<Configuration> propose(const SearchHistory& history,
                                       RandomStream& random) const override {
    if (history.seen_count() < kStart || current_.empty())
      return random_unseen(history, random);
    const std::vector<Configuration> next = unseen_neighbours(history, current_.configuration);
    return next.empty() ? kick(history, random) : next[random.below(next.size())];
  }

private:
  // A copy: the history may move its trials.
  struct Point {
    Configuration configuration = 0;
    std::optional<Nanoseconds> time;
    bool empty() const { return !time; }
    Point& operator=(const Trial* trial) {
      if (trial != nullptr) {
        configuration = trial->configuration;
        time = trial->time;
      }
      return *this;
    }
  };

  static std::vector<Configuration> unseen_neighbours(const SearchHistory& history,
                                                      Configuration configuration) {
    std::vector<Configuration> found = history.space().hamming_neighbours(configuration);
    std::erase_if(found, [&](Configuration c) { return history.seen(c); });
    return found;
  }

  static std::optional<Configuration> kick(const SearchHistory& history, RandomStream& random) {
    const SearchSpace& space = history.space();
    for (int attempt = 0; attempt < kKickTries; ++attempt) {
      Configuration at = history.best()->configuration;
      for (std::size_t i = 0; i < kKick; ++i)
        if (const auto next = space.hamming_neighbours(at); !next.empty())
          at = next[random.below(next.size())];
      if (!history.seen(at))
        return at;
    }
    return std::nullopt;
  }

  Point current_;
  bool kicked_ = false; // the next proposal is a kick
};

} // namespace

std::unique_ptr<Strategy> make_local_search(const SearchSpace&, const Prior&) {
  return std::make_unique<LocalSearch>();
}

} // namespace kernevo::search
