#include "kernevo/search/strategy.h"

#include "kernevo/base/suggest.h"

#include <fmt/format.h>

namespace kernevo::search {

const std::vector<StrategyEntry>& strategies() {
  static const std::vector<StrategyEntry> entries = {
      {"model", "a Gaussian process and extra-trees on the logarithm of the time (default)",
       make_model_search},
      {"evolutionary", "crossover and mutation of the best twenty", make_evolutionary_search},
      {"local", "descent over one-parameter changes from the best of ten, with kicks",
       make_local_search},
      {"random", "every valid configuration equally likely", make_random_search},
  };
  return entries;
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const SearchSpace& space,
                                                const Prior& prior) {
  std::vector<std::string> known;
  for (const StrategyEntry& entry : strategies()) {
    if (entry.name == name)
      return entry.make(space, prior);
    known.emplace_back(entry.name);
  }
  return fail(ErrorCode::usage,
              fmt::format("unknown strategy '{}'{}", name, did_you_mean(name, known)), std::nullopt,
              fmt::format("there are {}", fmt::join(known, ", ")));
}

} // namespace kernevo::search
