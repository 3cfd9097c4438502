// A kernel of a task on a device, ready to be tuned: its valid configurations and its identity.
#pragma once

#include "kernevo/device/device.h"
#include "kernevo/model/task.h"
#include "kernevo/search/kernel_tuner_cache.h"
#include "kernevo/search/search.h"
#include "kernevo/search/tuning_log.h"

namespace kernevo::tune {

struct TuningSubject {
  DeviceIdentity device;
  search::SearchSpace space;
  // The values the kernel has without tuning; absent when they are not valid at every shape.
  std::optional<search::Configuration> defaults;
  // Everything a time depends on: the kernel's source and the task; the device's fingerprint.
  std::string kernel_id;
  std::string device_id;

  search::LogHeader log_header(const search::SearchOptions& options) const {
    return {kernel_id, device_id, options.strategy, options.seed};
  }
  search::CacheHeader cache_header() const { return {device_id, kernel_id, problem_size}; }
  std::vector<std::int64_t> problem_size; // of the first shape, as cache files have it
};

// An input error for a kernel there is nothing to tune in, a parameter nobody uses, constraints
// that exclude everything and launches the GPU can never make.
Result<TuningSubject> prepare_subject(const Task& task, const KernelFile& kernel,
                                      const Device& device, bool hot_cache = false);

// Where the log of a subject lies unless the user says; empty when there is no cache folder.
std::filesystem::path default_log(const TuningSubject& subject);

} // namespace kernevo::tune
