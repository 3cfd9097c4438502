// kernevo check TASK KERNEL: is it right?
#include "kernevo/evaluate/check.h"
#include "kernevo/cli/blind.h"
#include "kernevo/cli/check_program.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/status_line.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/task/load_task.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string task;
  std::string kernel;
  std::vector<std::string> parameters;
  DeviceChoice device;
  CheckOptions check;
  double memory_gb = 8;
  std::string order;
  bool blind = false;
  ProgramTaskOptions program;
  bool require_kernels = false;
};

// "in-order", "shuffled" or "shuffled:SEED".
Result<std::optional<RunOrder>> parse_order(const std::string& text) {
  constexpr std::string_view shuffled = "shuffled";
  if (text.empty())
    return std::nullopt;
  if (text == "in-order")
    return RunOrder{};
  RunOrder order{true, 1};
  if (text == shuffled)
    return order;
  const char* end = text.data() + text.size();
  if (text.starts_with("shuffled:") && text.size() > shuffled.size() + 1 &&
      std::from_chars(text.data() + shuffled.size() + 1, end, order.seed).ptr == end)
    return order;
  return fail(ErrorCode::usage, fmt::format("--order '{}' is not an order", text), std::nullopt,
              "give in-order, shuffled or shuffled:SEED, for example --order shuffled:7");
}

// How much of the case was run and compared, when not all of it.
std::string coverage(const CheckedCase& c) {
  std::string text;
  if (!c.blocks_run || !c.elements_checked)
    return fmt::format("some of {} blocks", c.blocks);
  if (*c.blocks_run < c.blocks)
    text = fmt::format("{} of {} blocks", *c.blocks_run, c.blocks);
  if (*c.elements_checked < c.elements)
    text += fmt::format("{}{} of {} elements", text.empty() ? "" : ", ", *c.elements_checked,
                        c.elements);
  return text;
}

void print_cases(const Verdict& verdict) {
  std::vector<std::vector<std::string>> rows;
  std::string previous;
  for (const CheckedCase& c : verdict.cases) {
    const bool failing = verdict.failing_case && &c == &verdict.cases.back();
    rows.push_back(
        {c.case_id == previous ? "" : case_title(c), c.distribution,
         failing ? "FAILED" : fmt::format("error {:.3f} of tolerance", c.worst_error_ratio),
         failing ? "" : coverage(c)});
    previous = c.case_id;
  }
  fmt::print("{}", table(rows));
}

void print_resources(const KernelResources& r) {
  if (!r.registers)
    return;
  std::string line = fmt::format("kernel   {}: {} registers",
                                 r.demangled.empty() ? r.name : r.demangled, *r.registers);
  if (r.static_shared && r.static_shared->value > 0)
    line += fmt::format(", {} B shared", r.static_shared->value);
  if (r.spill_stores && r.spill_stores->value > 0)
    line += fmt::format(", {} B spilled", r.spill_stores->value);
  fmt::print("{}\n", line);
}

void print_build(const CheckResult& result) {
  const Build& build = result.build;
  if (!build.ok)
    return;
  fmt::print("built    {} for {}{}\n", build.compiler, build.architecture,
             build.from_cache ? ", from the cache" : "");
  if (result.code)
    fmt::print("loaded   {}\n", text_of(*result.code));
  for (const KernelResources& r : build.resources)
    print_resources(r);
  for (const LaunchOccupancy& launch : result.occupancy)
    fmt::print("launch   {}: {} blocks per multiprocessor, occupancy {:.0f} %, limited by {}\n",
               launch.kernel, launch.occupancy.blocks_per_multiprocessor,
               launch.occupancy.fraction * 100, name_of(launch.occupancy.limiter));
}

// The summary is the first error; a few more often help.
void print_further_errors(const std::vector<Diagnostic>& diagnostics) {
  constexpr std::size_t most = 10;
  std::size_t errors = 0;
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != Diagnostic::Severity::error)
      continue;
    ++errors;
    if (errors > 1 && errors <= most)
      fmt::print("  {}:{}: {}\n", d.place.file, d.place.line, d.message);
  }
}

void print_fault(const VisibleCheck& shown) {
  const CheckResult& result = shown.result;
  const Verdict& verdict = result.verdict;
  if (verdict.fault == FaultKind::unproven) {
    fmt::print("{}  {}\n", paint("UNPROVEN", Tone::warning), verdict.summary);
    return;
  }
  fmt::print("{}  {}{} at {}\n", paint("WRONG", Tone::bad), name_of(*verdict.fault),
             verdict.finding ? fmt::format(" ({})", name_of(verdict.finding->kind)) : "",
             name_of(verdict.rung));
  fmt::print("  {}\n", verdict.summary);
  if (shown.diagnosis)
    for (const std::string& detail : shown.diagnosis->details)
      fmt::print("  {}\n", detail);
  else if (verdict.rung == Rung::compile)
    print_further_errors(verdict.diagnostics);
  if (verdict.failing_case && result.seed)
    fmt::print("  repeat with --seed {}\n", *result.seed);
}

void print_output(const std::string& printed) {
  constexpr std::size_t most_lines = 20;
  if (printed.empty())
    return;
  fmt::print("printed\n");
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < printed.size() && lines < most_lines; ++lines) {
    const std::size_t end = std::min(printed.find('\n', begin), printed.size());
    fmt::print("  {}\n", std::string_view(printed).substr(begin, end - begin));
    begin = end + 1;
  }
  if (lines == most_lines)
    fmt::print("  ...\n");
}

void print_result(const Options& options, const VisibleCheck& shown,
                  const std::vector<std::string>& task_warnings) {
  const CheckResult& result = shown.result;
  const Verdict& verdict = result.verdict;
  if (!options.common.quiet) {
    fmt::print("task     {}\nkernel   {}\ndevice   {}\n", options.task, options.kernel,
               device_text(result.device));
    if (!result.parameters.empty())
      fmt::print("with     {}\n", parameters_text(result.parameters));
    print_build(result);
    if (!verdict.judged_by.empty())
      fmt::print("judged   {}\n", verdict.judged_by);
    if (!verdict.cases.empty()) {
      fmt::print("cases\n");
      print_cases(verdict);
    }
    print_output(verdict.printed);
    for (const auto* warnings : {&task_warnings, &verdict.warnings, &verdict.hidden_warnings})
      for (const std::string& warning : *warnings)
        fmt::print("{} {}\n", paint("warning:", Tone::warning), warning);
  }
  if (verdict.correct)
    fmt::print("{}  {}{}\n", paint("CORRECT", Tone::good), verdict.summary,
               result.wall_seconds ? fmt::format(" ({:.2f} s)", *result.wall_seconds) : "");
  else
    print_fault(shown);
}

void print_json(const Options& options, const VisibleCheck& shown,
                const std::vector<std::string>& task_warnings) {
  Json json = Json::parse(to_json(shown));
  json["task"] = options.task;
  json["kernel"] = options.kernel;
  json["task_warnings"] = task_warnings;
  fmt::print("{}\n", dump_json(json, 2));
}

Result<int> run_program(const Options& options) {
  return check_program({options.common,
                        {options.task, options.kernel},
                        options.program,
                        options.device,
                        options.check.seed,
                        options.check.seconds,
                        options.memory_gb,
                        options.check.patience_minutes,
                        options.check.small_only,
                        options.require_kernels});
}

int run(Options& options) {
  if (is_program_task(options.task, options.program)) {
    const auto code = run_program(options);
    return code ? *code : report_error(code.error(), options.common);
  }
  if (options.kernel.empty())
    return report_error(no_kernel(), options.common);
  const auto task = load_task(options.task);
  if (!task)
    return report_error(task.error(), options.common);
  const auto kernel = load_kernel_file(options.kernel);
  if (!kernel)
    return report_error(kernel.error(), options.common);
  auto parameters = parse_parameters(options.parameters);
  if (!parameters)
    return report_error(parameters.error(), options.common);
  options.check.parameters = std::move(*parameters);
  auto order = parse_order(options.order);
  if (!order)
    return report_error(order.error(), options.common);
  options.check.order = *order;
  options.check.memory_bytes = static_cast<std::uint64_t>(options.memory_gb * 1e9);
  const auto device = open_for(options.device, task->task, options.common);
  if (!device)
    return report_error(device.error(), options.common);
  const Audience audience = audience_of(options.blind);
  StatusLine status(options.common);
  options.check.observer = show_check(status);
  auto result = visible(check_kernel(**device, task->task, *kernel, options.check), audience);
  status.clear();
  if (!result)
    return report_error(result.error(), options.common);
  const VisibleCheck shown = visible(std::move(*result), kernel->source, audience);
  if (options.common.json)
    print_json(options, shown, task->warnings);
  else
    print_result(options, shown, task->warnings);
  return shown.result.verdict.correct ? kYes : kNo;
}

} // namespace

Command add_check(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command =
      app.add_subcommand("check", "Is this kernel right? Compiles it, runs it on the virtual GPU "
                                  "with every sanitizer on and compares with the oracle");
  command
      ->add_option("TASK", options->task,
                   "Task file: YAML for kernels, a Python module for programs")
      ->required();
  command->add_option("KERNEL", options->kernel,
                      "Kernel file (CUDA device code with directives), or a Python program");
  add_program_task(*command, options->program);
  command->add_flag("--require-kernels", options->require_kernels,
                    "Refuse a program that launches no kernel of its own");
  add_device_options(*command, options->device);
  command->add_option("-p,--param", options->parameters,
                      "Value of a @tune parameter, NAME=VALUE; repeatable");
  command->add_option("--seed", options->check.seed,
                      "Seed of the inputs (default: a fresh one, reported)");
  command->add_option("--seconds", options->check.seconds, "Most processor time of a launch")
      ->capture_default_str()
      ->in_range(0.1, 86400.0);
  add_patience(*command, options->check.patience_minutes);
  command->add_option("--memory", options->memory_gb, "Memory limit of the worker, in GB")
      ->capture_default_str()
      ->in_range(0.1, 4096.0);
  command->add_option("--order", options->order,
                      "Order of blocks, warps and atomics in every case: in-order, shuffled or "
                      "shuffled:SEED (default: only exact-integer cases are shuffled)");
  command->add_flag("--small-only", options->check.small_only, "Stop after the small shapes");
  add_blind(*command, options->blind);
  add_common(*command, options->common);
  return {[options] { return run(*options); }};
}

} // namespace kernevo::cli
