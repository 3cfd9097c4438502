// Up to which clock the lanes of one warp know each other's accesses. Mostly all lanes synchronise
// together and one number says it; after a barrier of some lanes only, a number for each pair.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kernevo::vgpu {

class LaneOrder {
public:
  using Clock = std::uint32_t;
  static constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};

  // Does what `others` did at the clock happen before what the lane does now?
  bool knows(unsigned lane, std::uint32_t others, Clock clock) const {
    return clock < all_ || unknown(lane, others, clock) == 0;
  }

  // Those of `others` whose access at the clock may still be under way for the lane.
  std::uint32_t unknown(unsigned lane, std::uint32_t others, Clock clock) const {
    if (clock < all_)
      return 0;
    if (!pairs_)
      return others;
    std::uint32_t left = 0;
    for (; others != 0; others &= others - 1) {
      const auto other = static_cast<std::size_t>(std::countr_zero(others));
      if (clock >= (*pairs_)[lane][other])
        left |= 1U << other;
    }
    return left;
  }

  // Has the access at the clock not been ordered for all lanes yet?
  bool is_recent(Clock clock) const { return clock >= all_; }
  bool by_pairs() const { return pairs_ != nullptr; }

  // What any lane did before the clock is known to all of them.
  void raise_all(Clock since) {
    all_ = std::max(all_, since);
    if (all_ >= latest_)
      pairs_.reset();
  }

  // These lanes met: each knows what all of them know, and what they did before the clock.
  void meet(std::uint32_t lanes, Clock since) {
    if (lanes == kAllLanes) {
      raise_all(since);
      return;
    }
    if (!pairs_) {
      pairs_ = std::make_unique<Pairs>();
      for (Row& row : *pairs_)
        row.fill(all_);
    }
    Row together{};
    for_each(lanes, [&](std::size_t lane) {
      for (std::size_t other = 0; other < together.size(); ++other)
        together[other] = std::max(together[other], (*pairs_)[lane][other]);
    });
    for_each(lanes, [&](std::size_t lane) { together[lane] = since; });
    for_each(lanes, [&](std::size_t lane) { (*pairs_)[lane] = together; });
    latest_ = std::max(latest_, since);
  }

private:
  using Row = std::array<Clock, 32>;
  using Pairs = std::array<Row, 32>;

  template <class F> static void for_each(std::uint32_t lanes, F&& f) {
    for (; lanes != 0; lanes &= lanes - 1)
      f(static_cast<std::size_t>(std::countr_zero(lanes)));
  }

  Clock all_ = 0;
  Clock latest_ = 0; // the largest of the pairs
  std::unique_ptr<Pairs> pairs_;
};

} // namespace kernevo::vgpu
