#include "kernevo/search/strategy.h"

namespace kernevo::search {

namespace {

class RandomSearch final : public Strategy {
public:
  std::string_view name() const override { return "random"; }
  void learn(const SearchHistory&, RandomStream&) override {}
  std::optional<Configuration> propose(const SearchHistory& history,
                                       RandomStream& random) const override {
    return random_unseen(history, random);
  }
};

} // namespace

std::unique_ptr<Strategy> make_random_search(const SearchSpace&, const Prior&) {
  return std::make_unique<RandomSearch>();
}

} // namespace kernevo::search
