// What the launches of a range did, by the names of hardware's counters: for libkernevo_cupti.so,
// which plays CUPTI. Everything is the virtual GPU's own count or its model's, and nothing else.
#pragma once

#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/launch_price.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace kernevo::cuda {

// Of one launch, whose price has its metrics.
std::map<std::string, double> hardware_counters(const LaunchCounts& counts,
                                                const LaunchPrice& price, const Gpu& gpu);

class CountedRange {
public:
  // From now on every launch is counted.
  void open();
  bool is_open() const { return open_; }
  void add(const LaunchCounts& counts, const LaunchPrice& price);
  // Sums are added up; what is a part of the time is weighted by it.
  std::map<std::string, double> close();

private:
  std::atomic<bool> open_ = false;
  std::mutex mutex_;
  std::map<std::string, double> values_;
  double time_ = 0;
};

// Of the process.
CountedRange& counted_range();

} // namespace kernevo::cuda

extern "C" {
// 0, or that counters cannot be had: the clock of the wall is asked for.
int kernevo_range_open();
// `take` is called for each counter.
void kernevo_range_close(void (*take)(const char* name, double value, void* data), void* data);
// Whether the GPU played has this counter.
int kernevo_range_counter(const char* name);
}
