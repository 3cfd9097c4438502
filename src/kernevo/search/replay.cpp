#include "kernevo/search/replay.h"

#include <deque>

namespace kernevo::search {

Result<ReplayResult> replay(const RecordedSpace& recorded, const SearchOptions& options,
                            std::size_t evaluations, std::size_t ahead) {
  KERNEVO_TRY(search, Search::create(recorded.space, options));
  ReplayResult result;
  std::deque<Configuration> asked;
  while (result.order.size() < evaluations) {
    while (asked.size() < ahead && result.order.size() + asked.size() < evaluations) {
      const auto next = search.ask();
      if (!next)
        break;
      asked.push_back(*next);
    }
    if (asked.empty())
      break;
    search.tell(recorded.trials[asked.front()]);
    result.order.push_back(asked.front());
    asked.pop_front();
    const Trial* best = search.history().best();
    result.fraction.push_back(best == nullptr ? 0 : recorded.best.value / best->time->value);
  }
  return result;
}

} // namespace kernevo::search
