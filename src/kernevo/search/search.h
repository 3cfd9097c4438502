// One search: what a driver asks for the next configuration and tells the result. No threads, no
// clock, no device inside.
#pragma once

#include "kernevo/search/strategy.h"

namespace kernevo::search {

struct SearchOptions {
  std::string strategy{kDefaultStrategy};
  std::uint64_t seed = 0;
  Prior prior;
  // Tried first, in this order: the kernel's defaults, the best of a parent or of another GPU.
  std::vector<Configuration> seeds;
};

class Search {
public:
  // The space must outlive the search.
  static Result<Search> create(const SearchSpace& space, SearchOptions options);

  // The next configuration to try, never one that was asked for or told before; nothing when all
  // were. May be called again before earlier answers are told, for builds ahead.
  // Depends on the seed, the trials told so far in their order, and what is pending; on nothing
  // else, so telling a recorded run again resumes it.
  std::optional<Configuration> ask();
  void tell(Trial trial);

  const SearchHistory& history() const { return history_; }
  const Strategy& strategy() const { return *strategy_; }

private:
  Search(const SearchSpace& space, SearchOptions options, std::unique_ptr<Strategy> strategy)
      : history_(space), options_(std::move(options)), strategy_(std::move(strategy)) {}

  SearchHistory history_;
  SearchOptions options_;
  std::unique_ptr<Strategy> strategy_;
};

} // namespace kernevo::search
