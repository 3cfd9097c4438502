// Giving up early: with several shapes, most bad configurations show after the first.
#pragma once

#include "kernevo/model/task.h"
#include "kernevo/search/history.h"

#include <vector>

namespace kernevo::tune {

class Race {
public:
  // One weight per shape, in the order in which they are timed.
  Race(Objective objective, std::vector<double> weights)
      : objective_(objective), weights_(std::move(weights)) {}
  // The shapes of the task, in its order.
  explicit Race(const Task& task);

  // Whether the shapes timed so far say enough, even if every time of theirs is as short as its
  // interval allows and every time of the incumbent as long:
  // - worst case: one of them alone takes longer than the incumbent's worst;
  // - mean time: they alone take longer than all of the incumbent's;
  // - geometric mean: over these shapes they are slower than the incumbent. The shapes that are
  //   left would have to be as many times faster.
  bool clearly_slower(const std::vector<ShapeTime>& shapes, const search::Trial* incumbent) const;

  // The objective of all shapes; of a configuration that was given up an estimate that gives each
  // missing shape the incumbent's time, scaled by the mean ratio of those timed. Never less than
  // the incumbent's.
  Nanoseconds time_of(const std::vector<ShapeTime>& shapes, const search::Trial* incumbent) const;

private:
  bool comparable(const search::Trial* incumbent) const;

  Objective objective_;
  std::vector<double> weights_;
};

} // namespace kernevo::tune
