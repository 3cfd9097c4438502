// kernevo compare TASK A B: which is faster, and is the difference real?
#include "kernevo/evaluate/compare.h"
#include "kernevo/base/text_diff.h"
#include "kernevo/cli/bench_program.h"
#include "kernevo/cli/blind.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/status_line.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/task/load_task.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string task;
  std::string a;
  std::string b;
  std::vector<std::string> parameters; // of both
  std::vector<std::string> parameters_a;
  std::vector<std::string> parameters_b;
  DeviceChoice device;
  CompareOptions compare;
  bool all = false;
  bool no_diff = false;
  bool blind = false;
  ProgramTaskOptions program;
};

Tone tone_of(Standing standing) {
  switch (standing) {
  case Standing::faster: return Tone::good;
  case Standing::slower: return Tone::bad;
  case Standing::same: return Tone::plain;
  default: return Tone::warning;
  }
}

std::string ratio_text(const Comparison& comparison) {
  if (!comparison.ratio)
    return "";
  const SpeedRatio& r = *comparison.ratio;
  return fmt::format("{:.3f}x  [{:.3f}, {:.3f}]", r.estimate, r.low, r.high);
}

void print_cases(const CompareResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"shape", "A", "B", "A / B", "interval", "B is", "why"}};
  const auto row = [&](const std::string& name, double a, double b, const Comparison& c) {
    std::string estimate;
    std::string interval;
    if (c.ratio) {
      estimate = fmt::format("{:.3f}", c.ratio->estimate);
      interval = fmt::format("{:.3f} to {:.3f}", c.ratio->low, c.ratio->high);
    }
    rows.push_back({name, time_text(a), time_text(b), estimate, interval,
                    std::string(name_of(c.standing)), c.reason});
  };
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    row(result.cases[i].case_id, result.incumbent.cases[i].timing.median.value,
        result.candidate.cases[i].timing.median.value, result.cases[i].comparison);
  row("all", result.incumbent.objective->value, result.candidate.objective->value, result.overall);
  const DeviceIdentity& device = result.incumbent.device;
  fmt::print("times    {}, for {}\n{}", name_of(device.method),
             device.method == TimingMethod::modelled ? device.gpu.name : device_text(device),
             table(rows));
}

struct Resource {
  const char* name;
  std::string (*value)(const LaunchBench&);
};

std::string bytes_text(const std::optional<Bytes>& bytes) {
  return bytes ? fmt::format("{}", bytes->value) : "?";
}

// In the order shown.
const std::vector<Resource>& resources() {
  static const std::vector<Resource> all = {
      {"registers",
       [](const LaunchBench& l) {
         return l.resources.registers ? fmt::format("{}", *l.resources.registers) : "?";
       }},
      {"spilled bytes", [](const LaunchBench& l) { return bytes_text(l.resources.spill_stores); }},
      {"stack bytes", [](const LaunchBench& l) { return bytes_text(l.resources.stack); }},
      {"shared bytes",
       [](const LaunchBench& l) { return fmt::format("{}", l.counts.shared_bytes); }},
      {"threads of a block",
       [](const LaunchBench& l) {
         return fmt::format("{}", l.counts.block[0] * l.counts.block[1] * l.counts.block[2]);
       }},
      {"blocks of the grid",
       [](const LaunchBench& l) {
         return fmt::format("{}",
                            std::uint64_t{l.counts.grid[0]} * l.counts.grid[1] * l.counts.grid[2]);
       }},
      {"occupancy",
       [](const LaunchBench& l) {
         return fmt::format("{:.0f} %, by {}", l.prediction.occupancy.fraction * 100,
                            name_of(l.prediction.occupancy.limiter));
       }},
      {"machine instructions",
       [](const LaunchBench& l) {
         return l.work ? fmt::format("{}", l.work->function.instructions.size()) : "?";
       }},
      {"limited by", [](const LaunchBench& l) { return l.prediction.limiter().name; }},
  };
  return all;
}

// The shape that takes the incumbent longest shows best in what they differ.
std::size_t heaviest(const CompareResult& result) {
  const auto& cases = result.incumbent.cases;
  return static_cast<std::size_t>(std::max_element(cases.begin(), cases.end(),
                                                   [](const CaseBench& a, const CaseBench& b) {
                                                     return a.timing.median.value <
                                                            b.timing.median.value;
                                                   }) -
                                  cases.begin());
}

void print_builds(const CompareResult& result, std::size_t i) {
  const auto& a = result.incumbent.cases[i].launches;
  const auto& b = result.candidate.cases[i].launches;
  std::vector<std::vector<std::string>> rows = {{"", "A", "B"}};
  for (std::size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
    rows.push_back({"kernel", k < a.size() ? a[k].prediction.kernel : "",
                    k < b.size() ? b[k].prediction.kernel : ""});
    for (const Resource& r : resources())
      rows.push_back(
          {r.name, k < a.size() ? r.value(a[k]) : "", k < b.size() ? r.value(b[k]) : ""});
  }
  fmt::print("builds   on {}\n{}", result.cases[i].case_id, table(rows));
}

void print_counters(const CaseComparison& one, bool all) {
  std::vector<std::vector<std::string>> rows;
  for (const CounterPair& pair : one.counters) {
    if (!all && !pair.differs())
      continue;
    const auto by = pair.ratio();
    rows.push_back({pair.incumbent.name, fmt::format("{:.6g}", pair.incumbent.value),
                    fmt::format("{:.6g}", pair.candidate.value),
                    by ? fmt::format("{:.3g}x", *by) : "", std::string(pair.incumbent.unit)});
  }
  if (rows.empty()) {
    fmt::print("counters on {}: none differs by a tenth\n", one.case_id);
    return;
  }
  rows.insert(rows.begin(), {"", "A", "B", "B / A", "unit"});
  fmt::print("counters on {}{}\n{}", one.case_id,
             all ? "" : ", those that differ by a tenth or more", table(rows));
}

void print_result(const Options& options, const CompareResult& result, const std::string& diff) {
  if (!options.common.quiet) {
    fmt::print(
        "task     {}\nA        {}{}\nB        {}{}\n", options.task, options.a,
        result.incumbent.parameters.empty() ? ""
                                            : "  " + parameters_text(result.incumbent.parameters),
        options.b,
        result.candidate.parameters.empty() ? ""
                                            : "  " + parameters_text(result.candidate.parameters));
    print_cases(result);
    const std::size_t shown = heaviest(result);
    const bool counted = !result.incumbent.cases[shown].launches.empty();
    if (counted)
      print_builds(result, shown);
    for (std::size_t i = 0; i < result.cases.size(); ++i)
      if (counted && (options.all || i == shown))
        print_counters(result.cases[i], options.all);
    if (!diff.empty())
      fmt::print("source\n{}{}", diff, diff.ends_with('\n') ? "" : "\n");
  }
  fmt::print("{}  B against A: {}  {}\n",
             paint(std::string(name_of(result.overall.standing)), tone_of(result.overall.standing)),
             ratio_text(result.overall), result.overall.reason);
}

Json comparison_json(const Comparison& comparison) {
  Json json{{"standing", name_of(comparison.standing)}, {"reason", comparison.reason}};
  if (comparison.method)
    json["method"] = name_of(*comparison.method);
  if (comparison.ratio)
    json["ratio"] = {{"estimate", comparison.ratio->estimate},
                     {"low", comparison.ratio->low},
                     {"high", comparison.ratio->high},
                     {"confidence", comparison.ratio->confidence}};
  return json;
}

Json side_json(const std::string& file, const BenchResult& bench) {
  Json json{{"kernel", file},
            {"parameters", bench.parameters},
            {"objective_ns", bench.objective->value},
            {"launches", Json::array()}};
  for (const LaunchBench& launch : bench.cases.front().launches) {
    Json one{{"kernel", launch.prediction.kernel}};
    for (const Resource& r : resources())
      one[r.name] = r.value(launch);
    json["launches"].push_back(std::move(one));
  }
  return json;
}

void print_json(const Options& options, const CompareResult& result, const std::string& diff) {
  Json json{{"task", options.task},
            {"device", result.incumbent.device.name},
            {"hardware", hardware_of(result.incumbent.device)},
            {"identical", result.identical},
            {"A", side_json(options.a, result.incumbent)},
            {"B", side_json(options.b, result.candidate)},
            {"overall", comparison_json(result.overall)},
            {"cases", Json::array()}};
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const CaseComparison& c = result.cases[i];
    Json one = comparison_json(c.comparison);
    one["case"] = c.case_id;
    one["A_ns"] = result.incumbent.cases[i].timing.median.value;
    one["B_ns"] = result.candidate.cases[i].timing.median.value;
    one["counters"] = Json::array();
    for (const CounterPair& pair : c.counters)
      if (options.all || pair.differs())
        one["counters"].push_back({{"name", pair.incumbent.name},
                                   {"A", pair.incumbent.value},
                                   {"B", pair.candidate.value},
                                   {"unit", pair.incumbent.unit}});
    json["cases"].push_back(std::move(one));
  }
  if (!options.no_diff)
    json["diff"] = diff;
  fmt::print("{}\n", dump_json(json, 2));
}

int report_wrong(const Options& options, const WrongKernel& wrong) {
  const bool first = wrong.side == Side::incumbent;
  const std::string& file = first ? options.a : options.b;
  if (options.common.json)
    fmt::print("{}\n", dump_json(Json{{"task", options.task},
                                      {"wrong", first ? "A" : "B"},
                                      {"kernel", file},
                                      {"fault", name_of(wrong.fault)},
                                      {"summary", wrong.summary}},
                                 2));
  else
    fmt::print("{}  {} ({})  {}\n  {}\n", paint("WRONG", Tone::bad), first ? "A" : "B", file,
               name_of(wrong.fault), wrong.summary);
  return kNo;
}

Result<ParameterValues> merged(const std::vector<std::string>& both,
                               const std::vector<std::string>& own) {
  std::vector<std::string> settings = both;
  settings.insert(settings.end(), own.begin(), own.end());
  return parse_parameters(settings);
}

Result<int> run_programs(const Options& options) {
  BenchProgramOptions programs;
  programs.common = options.common;
  programs.words = {options.task, options.a, options.b};
  programs.task = options.program;
  programs.device = options.device;
  programs.seconds = options.compare.bench.seconds;
  programs.patience_minutes = options.compare.bench.patience_minutes;
  return compare_programs(programs);
}

Result<int> run(Options& options) {
  if (is_program_task(options.task, options.program))
    return run_programs(options);
  if (options.b.empty())
    return tl::unexpected<Error>(no_kernel());
  KERNEVO_TRY(task, load_task(options.task));
  KERNEVO_TRY(a, load_kernel_file(options.a));
  KERNEVO_TRY(b, load_kernel_file(options.b));
  KERNEVO_TRY(parameters_a, merged(options.parameters, options.parameters_a));
  KERNEVO_TRY(parameters_b, merged(options.parameters, options.parameters_b));
  KERNEVO_TRY(device, open_for(options.device, task.task, options.common));
  KERNEVO_CHECK(check_cache(*device, options.compare.bench.hot_cache));
  const Audience audience = audience_of(options.blind);
  StatusLine status(options.common);
  options.compare.observer = show_check(status);
  KERNEVO_TRY(result, visible(compare_kernels(*device, task.task, {&a, std::move(parameters_a)},
                                              {&b, std::move(parameters_b)}, options.compare),
                              audience));
  status.clear();
  if (result.wrong) {
    const KernelFile& file = result.wrong->side == Side::incumbent ? a : b;
    return report_wrong(options, visible(*result.wrong, file.source, audience));
  }
  const std::string diff =
      options.no_diff ? "" : unified_diff(a.source, b.source, options.a, options.b);
  if (options.common.json)
    print_json(options, result, diff);
  else
    print_result(options, result, diff);
  return replaces_incumbent(result.overall) ? kYes : kNo;
}

} // namespace

Command add_compare(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "compare", "Is kernel B faster than kernel A, and is the difference real? Checks both, then "
                 "compares predicted times, counters, builds and sources");
  command->footer("Exit status: 0 when B is shown to be faster by the task's objective; 1 when it "
                  "is not (slower, the same, ambiguous) or one of them is wrong; 2 for usage or "
                  "input; 3 for trouble of the machine.");
  command
      ->add_option("TASK", options->task,
                   "Task file: YAML for kernels, a Python module for programs")
      ->required();
  command->add_option("A", options->a, "Kernel file (or program) of the incumbent")->required();
  command->add_option("B", options->b, "Kernel file (or program) of the candidate");
  add_program_task(*command, options->program);
  add_device_options(*command, options->device);
  command->add_option("-p,--param", options->parameters,
                      "Value of a @tune parameter of both, NAME=VALUE; repeatable");
  command->add_option("--param-a", options->parameters_a, "The same, of A only");
  command->add_option("--param-b", options->parameters_b, "The same, of B only");
  command->add_option("--case", options->compare.bench.only_cases,
                      "Time only this shape of the task; repeatable");
  command
      ->add_option("--blocks", options->compare.bench.blocks,
                   "About so many blocks of a launch are counted")
      ->capture_default_str()
      ->in_range(1, 1000000);
  options->compare.bench.seed = fresh_secret();
  command->add_option("--seed", options->compare.bench.seed,
                      "Seed of the inputs and of the blocks counted (default: a fresh one)");
  add_hot_cache(*command, options->compare.bench.hot_cache);
  add_patience(*command, options->compare.bench.patience_minutes);
  command->add_option("--seconds", options->compare.bench.seconds, "Wall-clock limit of one shape")
      ->capture_default_str()
      ->in_range(0.1, 86400.0);
  command->add_flag("--small-only", options->compare.small_only,
                    "Check results on small shapes only");
  command->add_flag("--all", options->all, "Every counter of every shape, not only what differs");
  add_blind(*command, options->blind);
  command->add_flag("--no-diff", options->no_diff, "Leave out the difference of the sources");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
