#include "kernevo/report/importance.h"

#include <bit>

namespace kernevo::report {
namespace {

class Order {
public:
  explicit Order(const RunStory& story) : story_(story), taken_(story.steps.size(), false) {}

  void take(std::size_t index) {
    if (!taken_[index]) {
      taken_[index] = true;
      order_.push_back(index);
    }
  }

  void take_step(Step step) {
    if (const StoryStep* found = story_.find(step))
      take(static_cast<std::size_t>(found - story_.steps.data()));
  }

  // A candidate and all it comes from.
  void take_lineage(Step step) {
    std::vector<Step> open = {step};
    while (!open.empty()) {
      const StoryStep* found = story_.find(open.back());
      open.pop_back();
      if (found == nullptr)
        continue;
      const auto index = static_cast<std::size_t>(found - story_.steps.data());
      if (taken_[index] && step != found->directive.step)
        continue;
      take(index);
      for (const auto& parent : {found->directive.parent, found->directive.mate})
        if (parent && *parent < found->directive.step)
          open.push_back(*parent);
    }
  }

  // Any beginning of the numbers with their bits reversed is spread evenly.
  void take_rest() {
    const std::size_t count = story_.steps.size();
    const auto bits = static_cast<unsigned>(std::bit_width(count));
    for (std::size_t i = 0; i < (std::size_t{1} << bits); ++i) {
      std::size_t reversed = 0;
      for (unsigned bit = 0; bit < bits; ++bit)
        reversed |= ((i >> bit) & 1U) << (bits - 1 - bit);
      if (reversed < count)
        take(reversed);
    }
  }

  std::vector<std::size_t> result() && { return std::move(order_); }

private:
  const RunStory& story_;
  std::vector<bool> taken_;
  std::vector<std::size_t> order_;
};

} // namespace

std::vector<std::size_t> by_importance(const RunStory& story) {
  Order order(story);
  order.take_step(0);
  if (!story.bests.empty()) {
    order.take_step(story.bests.back());
    order.take_lineage(story.bests.back());
  }
  for (auto best = story.bests.rbegin(); best != story.bests.rend(); ++best)
    order.take_step(*best);
  order.take_rest();
  return std::move(order).result();
}

} // namespace kernevo::report
