// What the task's work model says of a run: the work and the compulsory bytes of each shape, and
// the roofs of the GPU.
#pragma once

#include "kernevo/report/run_story.h"

#include <string>
#include <vector>

namespace kernevo::report {

struct ShapeWork {
  std::string shape;
  double flops = 0;
  double bytes = 0; // that must move, whatever the kernel
  double least_ns = 0;
};

struct RunWork {
  std::vector<ShapeWork> shapes;    // without a model: empty
  double dram_bytes_per_second = 0; // of the GPU's table
  double operations_per_second = 0; // the best dense rate for the task's type
  std::string dtype;
  std::optional<Nanoseconds> roofline; // the least objective
  bool estimated = false;              // from the reference, for the task does not say
  std::string semantics;               // of the task
};

// From the journal's own copy of the task. An error when the task cannot be read any more or the
// GPU is not known here.
Result<RunWork> work_of(const RunStory& story, store::Journal& journal);

} // namespace kernevo::report
