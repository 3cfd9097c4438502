#include "kernevo/cli/checked_bench.h"

#include "kernevo/cli/bench_program.h"
#include "kernevo/cli/blind.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/count_hardware.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/explain/match_ncu.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/task/load_task.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kernevo::cli {
namespace {

void report_fault(const CheckedBenchOptions& options, FaultKind kind, const std::string& summary) {
  if (options.common.json)
    fmt::print("{}\n", dump_json(Json{{"task", options.task},
                                      {"kernel", options.kernel},
                                      {"fault", name_of(kind)},
                                      {"summary", summary}},
                                 2));
  else
    fmt::print("{}  {}\n  {}\n", paint("WRONG", Tone::bad), name_of(kind), summary);
}

// A launch the GPU cannot make is a mistake in the input, not an answer about the kernel's speed.
Error impossible_launch(const KernelFile& kernel, const std::string& summary) {
  Error error{ErrorCode::input, summary, std::nullopt, ""};
  if (!summary.starts_with(kernel.path)) {
    error.place = kernel.launches.empty() ? Place{kernel.path} : kernel.launches.front().place;
    error.fix = "change its @launch line";
  }
  return error;
}

// What the user is told of a fault; an error where it is the input's.
Result<void> tell_fault(const CheckedBenchOptions& options, const KernelFile& kernel,
                        FaultKind kind, const std::string& summary) {
  if (kind == FaultKind::interface_contract_error)
    return tl::unexpected<Error>(impossible_launch(kernel, summary));
  report_fault(options, kind, summary);
  return {};
}

Result<void> check_cases(const Task& task, const std::vector<std::string>& wanted) {
  std::string known;
  for (const ShapeCase& shape : task.shapes)
    known += (known.empty() ? "" : ", ") + shape.id;
  for (const std::string& id : wanted)
    if (std::none_of(task.shapes.begin(), task.shapes.end(),
                     [&](const ShapeCase& shape) { return shape.id == id; }))
      return fail(ErrorCode::usage, fmt::format("the task has no shape '{}'", id), Place{task.file},
                  fmt::format("use one of {}", known));
  return {};
}

} // namespace

void add_checked_bench(CommandLine& command, CheckedBenchOptions& options) {
  command
      .add_option("TASK", options.task, "Task file: YAML for kernels, a Python module for programs")
      ->required();
  command.add_option("KERNEL", options.kernel,
                     "Kernel file (CUDA device code with directives), or a Python program");
  add_program_task(command, options.program);
  add_device_options(command, options.device);
  command.add_option("-p,--param", options.parameters,
                     "Value of a @tune parameter, NAME=VALUE; repeatable");
  command.add_option("--case", options.bench.only_cases, "Only this shape of the task; repeatable");
  command
      .add_option("--blocks", options.bench.blocks, "About so many blocks of a launch are counted")
      ->capture_default_str()
      ->in_range(1, 1000000);
  // A kernel that knows its inputs knows that it is timed.
  options.bench.seed = fresh_secret();
  command.add_option("--seed", options.bench.seed,
                     "Seed of the inputs and of the blocks counted (default: a fresh one)");
  command.add_option("--seconds", options.bench.seconds, "Wall-clock limit of one shape")
      ->capture_default_str()
      ->in_range(0.1, 86400.0);
  add_hot_cache(command, options.bench.hot_cache);
  add_patience(command, options.bench.patience_minutes);
  command.add_flag("--unchecked", options.unchecked, "Do not check results first");
  add_blind(command, options.blind);
  add_common(command, options.common);
}

namespace {

// The same kernel on the companion of a device: the same PTX, where both take the same.
Result<void> add_model(Device& device, const CheckedBenchOptions& options,
                       const ParameterValues& parameters, Audience audience,
                       CheckedBench& checked) {
  if (!device.companion())
    return fail(ErrorCode::unsupported,
                fmt::format("there is no virtual GPU like {} to model it", device.identity().name));
  Device& companion = *device.companion()->device;
  KERNEVO_TRY(prepared, prepare_kernel(companion, checked.task, checked.kernel, parameters));
  BenchOptions modelled = options.bench;
  modelled.hot_cache = false;
  KERNEVO_TRY(timed, bench_prepared(companion, prepared, modelled));
  if (timed.fault)
    return fail(ErrorCode::unsupported,
                fmt::format("{} cannot model it: {}", companion.identity().name, timed.summary));
  checked.modelled = visible(std::move(timed), checked.task, audience);
  checked.modelled_on =
      fmt::format("{}, {}", companion.identity().name, device.companion()->likeness);
  return {};
}

// Of a real GPU, whatever the device that is asked otherwise.
Result<HardwareCounters> counters_of_file(const std::vector<NcuLaunch>& launches,
                                          const std::string& file, const CounterMap& map,
                                          const BenchResult& counted) {
  std::vector<PlannedCase> cases;
  for (const CaseBench& one : counted.cases) {
    PlannedCase& planned = cases.emplace_back(PlannedCase{one.case_id, {}});
    for (const LaunchBench& launch : one.launches)
      planned.launches.push_back(&launch.counts);
  }
  return match_ncu(launches, file, cases, map, counted.device.gpu);
}

} // namespace

bool is_program(const CheckedBenchOptions& options) {
  return is_program_task(options.task, options.program);
}

Result<int> bench_program(const CheckedBenchOptions& options, bool profile) {
  BenchProgramOptions program;
  program.common = options.common;
  program.words = {options.task, options.kernel};
  program.task = options.program;
  program.device = options.device;
  program.seconds = options.bench.seconds;
  program.patience_minutes = options.bench.patience_minutes;
  program.unchecked = options.unchecked;
  program.profile = profile;
  return bench_program(program);
}

Result<std::optional<CheckedBench>> checked_bench(const CheckedBenchOptions& options) {
  if (options.kernel.empty())
    return tl::unexpected<Error>(no_kernel());
  const Audience audience = audience_of(options.blind);
  KERNEVO_TRY(task, load_task(options.task));
  KERNEVO_TRY(kernel, load_kernel_file(options.kernel));
  KERNEVO_TRY(parameters, parse_parameters(options.parameters));
  KERNEVO_CHECK(check_cases(task.task, options.bench.only_cases));
  CounterMap map;
  std::vector<NcuLaunch> in_file;
  if (options.with_counters) {
    KERNEVO_TRY(loaded, CounterMap::load());
    map = std::move(loaded);
  }
  if (!options.counters.empty()) {
    KERNEVO_TRY(read,
                read_ncu_file(options.counters, {map.counters().begin(), map.counters().end()}));
    in_file = std::move(read);
  }
  KERNEVO_TRY(device, open_for(options.device, task.task, options.common));
  if (options.with_model && !device->capabilities().measures)
    return fail(
        ErrorCode::usage,
        fmt::format("--with-model: the times of {} are modelled already", device->identity().name),
        std::nullopt, "name a device that measures, such as --device cuda:0");
  KERNEVO_CHECK(check_cache(*device, options.bench.hot_cache));
  KERNEVO_TRY(prepared, prepare_kernel(*device, task.task, kernel, parameters));
  if (!options.unchecked) {
    CheckOptions check;
    check.small_only = true;
    KERNEVO_TRY(checked, visible(check_prepared(*device, prepared, check), audience));
    if (!checked.verdict.correct) {
      const Verdict verdict = visible(checked.verdict, kernel.source, audience).verdict;
      KERNEVO_CHECK(tell_fault(options, kernel, *verdict.fault, verdict.summary));
      return std::nullopt;
    }
  }
  KERNEVO_TRY(timed, bench_prepared(*device, prepared, options.bench));
  BenchResult result = visible(std::move(timed), task.task, audience);
  if (result.fault) {
    KERNEVO_CHECK(tell_fault(options, kernel, *result.fault, result.summary));
    return std::nullopt;
  }
  const bool wants_counters = options.with_counters && !device->capabilities().instrumented;
  std::optional<HardwareCounters> counters;
  if (wants_counters && options.counters.empty()) {
    KERNEVO_TRY(counted, count_hardware(*device, prepared, map, options.bench));
    counters = std::move(counted);
  }
  CheckedBench checked{std::move(task.task), std::move(kernel), std::move(result), {}, {},
                       std::move(counters)};
  if (options.with_model || wants_counters)
    KERNEVO_CHECK(add_model(*device, options, parameters, audience, checked));
  if (!options.counters.empty()) {
    KERNEVO_TRY(read, counters_of_file(in_file, options.counters, map, checked.counted()));
    checked.counters = std::move(read);
  }
  return std::optional(std::move(checked));
}

} // namespace kernevo::cli
