// How far a check is, for whoever waits for it.
#pragma once

#include "kernevo/model/verdict.h"

#include <functional>
#include <optional>
#include <string>

namespace kernevo {

struct CheckProgress {
  Rung rung = Rung::small_shapes;
  // Of a real shape; empty for what is not the task's own.
  std::string shape = {};
  std::size_t run = 0; // of `runs`, counted from 1
  std::size_t runs = 0;
  // What is left of the shape, by an ordinary machine or by its first run here; absent where it is
  // not known, or where the figure would tell what the kernel met.
  std::optional<double> seconds_left = {};
};

using CheckObserver = std::function<void(const CheckProgress&)>;

} // namespace kernevo
