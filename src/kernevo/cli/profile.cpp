// kernevo profile TASK KERNEL: why does it take as long as it does?
#include "kernevo/cli/command.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/profile_report.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/explain_bench.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/task/load_task.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string task;
  std::string kernel;
  std::vector<std::string> parameters;
  BenchOptions bench;
  bool unchecked = false;
};

// There is nothing to explain about a wrong kernel.
int report_fault(const Options& options, FaultKind kind, const std::string& summary) {
  if (options.common.json)
    fmt::print("{}\n", Json{{"task", options.task},
                            {"kernel", options.kernel},
                            {"fault", name_of(kind)},
                            {"summary", summary}}
                           .dump(2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}  {}\n  {}\n", paint("WRONG", Tone::bad), name_of(kind), summary);
  return kNo;
}

Result<void> check_cases(const Task& task, const std::vector<std::string>& wanted) {
  for (const std::string& id : wanted) {
    std::string known;
    bool found = false;
    for (const ShapeCase& shape : task.shapes) {
      known += (known.empty() ? "" : ", ") + shape.id;
      found = found || shape.id == id;
    }
    if (!found)
      return fail(ErrorCode::usage, fmt::format("the task has no shape '{}'", id), Place{task.file},
                  fmt::format("use one of {}", known));
  }
  return {};
}

Result<int> run(Options& options) {
  KERNEVO_TRY(task, load_task(options.task));
  KERNEVO_TRY(kernel, load_kernel_file(options.kernel));
  KERNEVO_TRY(parameters, parse_parameters(options.parameters));
  KERNEVO_TRY(rules, load_rules());
  KERNEVO_CHECK(check_cases(task.task, options.bench.only_cases));
  options.bench.parameters = std::move(parameters);
  if (!options.unchecked) {
    CheckOptions check;
    check.gpu = options.bench.gpu;
    check.parameters = options.bench.parameters;
    check.small_only = true;
    KERNEVO_TRY(checked, check_kernel(task.task, kernel, check));
    if (!checked.verdict.correct)
      return report_fault(options, *checked.verdict.fault, checked.verdict.summary);
  }
  KERNEVO_TRY(result, bench_kernel(task.task, kernel, options.bench));
  if (result.fault)
    return report_fault(options, *result.fault, result.summary);
  KERNEVO_TRY(explanations, explain_bench(task.task, result, rules));
  const ProfileReport report{options.task, options.kernel, kernel, result, explanations};
  fmt::print("{}", options.common.json    ? profile_json(report) + "\n"
                   : options.common.quiet ? profile_summary(report)
                                          : profile_text(report));
  return kYes;
}

} // namespace

Command add_profile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "profile", "Why does this kernel take as long as it does? Counters, roofline, bounds, what "
                 "holds it back with what to try, and the source lines behind it");
  command->add_option("TASK", options->task, "Task file (YAML)")->required();
  command->add_option("KERNEL", options->kernel, "Kernel file (CUDA device code with directives)")
      ->required();
  command->add_option("--gpu", options->bench.gpu, "Named GPU instead of the task's target");
  command->add_option("-p,--param", options->parameters,
                      "Value of a @tune parameter, NAME=VALUE; repeatable");
  command->add_option("--case", options->bench.only_cases,
                      "Only this shape of the task; repeatable");
  command
      ->add_option("--blocks", options->bench.blocks,
                   "About so many blocks of a launch are counted")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--seed", options->bench.seed, "Seed of the inputs and of the blocks counted")
      ->capture_default_str();
  command->add_option("--seconds", options->bench.seconds, "Wall-clock limit of one shape")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
  command->add_flag("--unchecked", options->unchecked, "Do not check results first");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
