#include "kernevo/search/replay.h"

namespace kernevo::search {

Result<ReplayResult> replay(const RecordedSpace& recorded, const SearchOptions& options,
                            std::size_t evaluations) {
  KERNEVO_TRY(search, Search::create(recorded.space, options));
  ReplayResult result;
  while (result.order.size() < evaluations) {
    const auto next = search.ask();
    if (!next)
      break;
    search.tell(recorded.trials[*next]);
    result.order.push_back(*next);
    const Trial* best = search.history().best();
    result.fraction.push_back(best == nullptr ? 0 : recorded.best.value / best->time->value);
  }
  return result;
}

} // namespace kernevo::search
