// How to choose what to try next. A strategy is found by its name in one registry.
#pragma once

#include "kernevo/search/history.h"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace kernevo::search {

// A predicted time for configurations, from a model of the kernel. Only the order and the ratios
// matter, not the unit. Not a number: no prediction for that configuration.
struct Prior {
  std::vector<double> predicted; // one per configuration, or empty for no prior
};

// `learn` is called after every told trial, in order, and `propose` for every configuration that is
// asked for. All state comes from the told trials, so a search whose trials are told again
// continues as if it had never stopped: propose() may keep nothing.
class Strategy {
public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;
  virtual void learn(const SearchHistory& history, RandomStream& random) = 0;
  // An unseen configuration, or nothing to take any.
  virtual std::optional<Configuration> propose(const SearchHistory& history,
                                               RandomStream& random) const = 0;
};

struct StrategyEntry {
  std::string_view name;
  std::string_view summary; // one line
  std::unique_ptr<Strategy> (*make)(const SearchSpace& space, const Prior& prior);
};

const std::vector<StrategyEntry>& strategies();
inline constexpr std::string_view kDefaultStrategy = "model";

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const SearchSpace& space,
                                                const Prior& prior = {});

std::unique_ptr<Strategy> make_random_search(const SearchSpace& space, const Prior& prior);
std::unique_ptr<Strategy> make_local_search(const SearchSpace& space, const Prior& prior);
std::unique_ptr<Strategy> make_evolutionary_search(const SearchSpace& space, const Prior& prior);
std::unique_ptr<Strategy> make_model_search(const SearchSpace& space, const Prior& prior);

} // namespace kernevo::search
