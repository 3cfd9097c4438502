#include "kernevo/report/work_model.h"

#include "kernevo/evaluate/objective_time.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/feasibility.h"
#include "kernevo/task/load_task.h"

namespace kernevo::report {

Result<RunWork> work_of(const RunStory& story, store::Journal& journal) {
  const RunStarted& started = story.state.started;
  KERNEVO_TRY(text, journal.blob(started.task));
  KERNEVO_TRY(loaded, parse_task(text, started.task_file));
  KERNEVO_TRY(gpu, find_gpu(started.gpu));
  const Task& task = loaded.task;
  RunWork work;
  work.dtype = name_of(task.dtype);
  work.semantics = task.semantics;
  work.dram_bytes_per_second = gpu.dram_gbps * 1e9;
  work.operations_per_second = gpu.peak_operations_per_second(task.dtype);
  std::vector<WeightedTime> least;
  for (const ShapeCase& shape : task.shapes) {
    const auto& estimate = started.estimate;
    KERNEVO_TRY(line,
                roofline(task, shape.dims, gpu, estimate ? estimate->find(shape.id) : nullptr));
    if (!line || !(line->least_us > 0))
      return work;
    work.estimated = work.estimated || line->estimated;
    work.shapes.push_back({shape.id, line->flops, line->bytes, line->least_us * 1e3});
    least.push_back({Nanoseconds{line->least_us * 1e3}, shape.weight});
  }
  work.roofline = objective_time(task.objective, least);
  return work;
}

} // namespace kernevo::report
