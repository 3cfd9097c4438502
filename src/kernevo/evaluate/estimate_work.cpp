#include "kernevo/evaluate/estimate_work.h"

#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/evaluate/needed_bytes.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/explain/arithmetic.h"
#include "kernevo/task/feasibility.h"

#include <algorithm>
#include <utility>

namespace kernevo {
namespace {

// Nothing is kept from anybody by it: a bound known beforehand can be met, not cheated.
constexpr std::uint64_t kSeed = 0x626F756E64;
// Warp instructions that all runs of a shape may take together, a quarter of a minute on two cores.
// Of what takes longer, as of what is larger, only the outputs are known to be moved.
constexpr double kPatience = 4e9;
// The machine's work on a byte of the tensors, in warp instructions: copied, compared, mapped.
constexpr double kPerByte = 0.1;
constexpr double kMostRuns = 96;
constexpr double kSlack = 8; // of a launch over what its sample says
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30U;

struct Counted {
  double flops = 0;
  double warp_instructions = 0;
};

Counted count(const CaseBench& bench) {
  Counted counted;
  for (const LaunchBench& launch : bench.launches) {
    for (const auto& [unit, operations] : count_arithmetic(launch.counts))
      counted.flops += operations;
    double instructions = 0;
    for (const InstructionCounts& i : launch.counts.instructions)
      instructions += static_cast<double>(i.executions);
    const double blocks =
        double(launch.counts.grid[0]) * launch.counts.grid[1] * launch.counts.grid[2];
    counted.warp_instructions += instructions * blocks / std::max(1.0, launch.counts.represented());
  }
  return counted;
}

// Nothing when the reference is at fault.
Result<std::optional<ShapeEstimate>> estimate_shape(KernelSubject& subject, const Problem& problem,
                                                    const Counted& counted) {
  std::uint64_t bytes = 0;
  for (const BufferSpec& buffer : problem.buffers)
    bytes += buffer.bytes();
  const double per_run = counted.warp_instructions + kPerByte * static_cast<double>(bytes);
  NeededBytesLimits limits;
  limits.runs = static_cast<std::uint64_t>(std::min(kMostRuns, kPatience / per_run));
  if (limits.runs == 0 || bytes > kMostBytes) {
    const double written = bytes_to_write(problem);
    return ShapeEstimate{problem.case_id, counted.flops, written, written, 0, 0};
  }
  limits.instruction_budget = static_cast<std::uint64_t>(1e6 + kSlack * counted.warp_instructions);
  KERNEVO_TRY(needed,
              find_needed_bytes(subject, make_inputs(problem, InputSet::nominal, kSeed), limits));
  if (!needed)
    return std::nullopt;
  return ShapeEstimate{problem.case_id, counted.flops, needed->bytes,
                       needed->least,   needed->tried, needed->changed};
}

Result<std::optional<WorkEstimate>> estimate_shapes(Device& device, const Task& task,
                                                    KernelSubject& subject) {
  BenchOptions options;
  options.seed = kSeed;
  options.compare_with_reference = false;
  KERNEVO_TRY(bench, bench_prepared(device, subject.prepared(), options));
  if (bench.fault || bench.cases.size() != task.shapes.size())
    return std::nullopt;
  WorkEstimate estimate;
  std::vector<WeightedTime> all;
  std::vector<WeightedTime> moving;
  std::vector<WeightedTime> sure;
  for (std::size_t i = 0; i < task.shapes.size(); ++i) {
    const ShapeCase& shape = task.shapes[i];
    KERNEVO_TRY(problem, make_problem(task, shape));
    KERNEVO_TRY(one, estimate_shape(subject, problem, count(bench.cases[i])));
    if (!one)
      return std::nullopt;
    KERNEVO_TRY(line, roofline(task, shape.dims, device.gpu(), &*one));
    if (!line || !(line->sure_us > 0))
      return std::nullopt;
    all.push_back({Nanoseconds{line->least_us * 1e3}, shape.weight});
    moving.push_back({Nanoseconds{line->moving_us * 1e3}, shape.weight});
    sure.push_back({Nanoseconds{line->sure_us * 1e3}, shape.weight});
    estimate.shapes.push_back(std::move(*one));
  }
  estimate.roofline_ns = objective_time(task.objective, all).value;
  estimate.moving_ns = objective_time(task.objective, moving).value;
  estimate.least_ns = objective_time(task.objective, sure).value;
  return std::optional(std::move(estimate));
}

} // namespace

Result<std::optional<WorkEstimate>> estimate_work(Device& device, const Task& task) {
  if (!device.capabilities().instrumented && device.companion())
    return estimate_work(*device.companion()->device, task);
  if ((task.work.flops && task.work.bytes) || task.reference_kernel.empty() ||
      !device.capabilities().instrumented)
    return std::nullopt;
  // A reference at fault is the baseline's story; here it only has nothing to tell.
  const auto kernel = parse_kernel_file(task.reference_kernel, task.reference_place.file,
                                        task.reference_place.line);
  if (!kernel)
    return std::nullopt;
  KERNEVO_TRY(prepared, prepare_kernel(device, task, *kernel, {}));
  if (prepared.fault)
    return std::nullopt;
  KERNEVO_TRY(loaded, load_kernel(device, prepared, {}));
  if (loaded.refusal)
    return std::nullopt;
  return estimate_shapes(device, task, *loaded.subject);
}

} // namespace kernevo
