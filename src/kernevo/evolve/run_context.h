// What stays the same for a whole run: the task, the device, the rules.
#pragma once

#include "kernevo/base/units.h"
#include "kernevo/device/open_device.h"
#include "kernevo/explain/counter_map.h"
#include "kernevo/explain/rules.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/task.h"
#include "kernevo/model/work_estimate.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::evolve {

struct RunContext {
  Task task;
  std::string task_text; // of the file
  std::shared_ptr<Device> device;
  Gpu gpu; // the device's
  std::vector<Rule> rules;
  CounterMap counter_map;
  std::string reference_source; // the task's, or the catalogue's naive kernel
  std::string identity;   // of all a result depends on: task, device, tables, program, compiler
  bool hot_cache = false; // kernels are timed so
  // What the task's objective makes of the least times the roofline allows; absent when nobody
  // knows the task's work.
  std::optional<Nanoseconds> roofline;
  // What cannot be undercut: the roofline, or less where that is estimated.
  std::optional<Nanoseconds> least;
  std::optional<WorkEstimate> estimate; // of a task that does not say its work

  void take(const std::optional<WorkEstimate>& estimated);
  // What was found out with cold caches says nothing of hot ones. Once.
  void time_with(bool hot);
};

Result<RunContext> make_run_context(const std::string& task_file, const DeviceChoice& choice);
// The same from the text of the file, as a journal keeps it.
Result<RunContext> make_run_context(const std::string& task_text, const std::string& task_file,
                                    const DeviceChoice& choice);
Result<RunContext> make_run_context(const std::string& task_text, const std::string& task_file,
                                    std::shared_ptr<Device> device);

// Asks the reference for what the task does not say of its work: once, when a run begins. The run
// remembers it (RunStarted).
Result<void> estimate_work_of(RunContext& context);

} // namespace kernevo::evolve
