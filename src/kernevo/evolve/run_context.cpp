#include "kernevo/evolve/run_context.h"

#include "kernevo/base/files.h"
#include "kernevo/base/hash.h"
#include "kernevo/evaluate/estimate_work.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/feasibility.h"
#include "kernevo/task/load_task.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo::evolve {
namespace {

Result<std::string> reference_of(const Task& task) {
  if (!task.reference_kernel.empty())
    return task.reference_kernel;
  if (find_operation(task.operation) == nullptr)
    return fail(ErrorCode::input, "has no reference kernel to start from", Place{task.file},
                "add 'reference_kernel: FILE.cu'");
  KERNEVO_TRY(starter, make_starter(task.operation, task.dtype, task.target_gpu));
  return starter.kernel_source;
}

Result<std::optional<Nanoseconds>> roofline_of(const Task& task, const Gpu& gpu) {
  std::vector<WeightedTime> least;
  for (const ShapeCase& shape : task.shapes) {
    KERNEVO_TRY(line, roofline(task, shape.dims, gpu));
    if (!line || !(line->least_us > 0))
      return std::nullopt;
    least.push_back({Nanoseconds{line->least_us * 1e3}, shape.weight});
  }
  return std::optional(objective_time(task.objective, least));
}

Result<RunContext> make(Task task, const std::string& task_text, std::shared_ptr<Device> device) {
  RunContext context;
  context.task = std::move(task);
  context.task_text = task_text;
  context.device = std::move(device);
  context.gpu = context.device->gpu();
  KERNEVO_TRY(rules, load_rules());
  context.rules = std::move(rules);
  KERNEVO_TRY(counter_map, CounterMap::load());
  context.counter_map = std::move(counter_map);
  KERNEVO_TRY(reference, reference_of(context.task));
  context.reference_source = std::move(reference);
  KERNEVO_TRY(fingerprint, context.device->fingerprint());
  context.identity =
      sha256_hex(fmt::format("{}\n{}\n{}", fingerprint, task_text, context.reference_source));
  KERNEVO_TRY(least, roofline_of(context.task, context.gpu));
  context.roofline = least;
  context.least = least;
  return context;
}

} // namespace

void RunContext::time_with(bool hot) {
  hot_cache = hot;
  if (hot)
    identity = sha256_hex(identity + "\nhot cache");
}

void RunContext::take(const std::optional<WorkEstimate>& estimated) {
  if (!estimated)
    return;
  estimate = estimated;
  roofline = Nanoseconds{estimated->roofline_ns};
  least = Nanoseconds{estimated->least_ns};
}

Result<void> estimate_work_of(RunContext& context) {
  KERNEVO_TRY(estimated, estimate_work(*context.device, context.task));
  context.take(estimated);
  return {};
}

Result<RunContext> make_run_context(const std::string& task_file, const DeviceChoice& choice) {
  KERNEVO_TRY(text, read_text_file(task_file));
  return make_run_context(text, task_file, choice);
}

Result<RunContext> make_run_context(const std::string& task_text, const std::string& task_file,
                                    const DeviceChoice& choice) {
  KERNEVO_TRY(loaded, parse_task(task_text, task_file));
  KERNEVO_TRY(device, open_device(choice, loaded.task.target_gpu));
  return make(std::move(loaded.task), task_text, std::move(device));
}

Result<RunContext> make_run_context(const std::string& task_text, const std::string& task_file,
                                    std::shared_ptr<Device> device) {
  KERNEVO_TRY(loaded, parse_task(task_text, task_file));
  return make(std::move(loaded.task), task_text, std::move(device));
}

} // namespace kernevo::evolve
