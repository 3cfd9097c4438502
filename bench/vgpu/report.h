// Times, and the line of JSON that says what was measured.
#pragma once

#include "problem.h"

#include <chrono>
#include <ctime>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace bench {

class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }
  // Of the whole process: a busy machine changes little of it.
  double processor_milliseconds() const {
    return 1e3 * static_cast<double>(std::clock() - processor_start_) / CLOCKS_PER_SEC;
  }

private:
  std::clock_t processor_start_ = std::clock();
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Time {
  double milliseconds = 0;
  double processor_milliseconds = 0;
};

// Calls `run` until there are `repetitions` times, or at least three and more than `seconds` in
// all.
template <class Run> std::vector<Time> repeat(int repetitions, double seconds, Run run) {
  std::vector<Time> times;
  const Stopwatch all;
  for (int i = 0; i < repetitions; ++i) {
    if (i >= 3 && all.milliseconds() > 1e3 * seconds)
      break;
    const Stopwatch one;
    if (!run())
      break;
    times.push_back({one.milliseconds(), one.processor_milliseconds()});
  }
  return times;
}

// Best and median time, and the best processor time.
nlohmann::json describe(const std::vector<Time>& times);
// The same with kernel and size, and whether the output is right.
nlohmann::json describe(const Problem& problem, const std::vector<Time>& times,
                        const float* output);

} // namespace bench
